package main

import "testing"

func TestDoctorNeedsOneWayOnly(t *testing.T) {
	for name, c := range map[string]struct {
		setting             string
		account, cli, login verdict
		want                [3]verdict
	}{
		"logged in here":      {"auto", good, bad, doubt, [3]verdict{good, good, doubt}},
		"logged in there":     {"auto", doubt, good, good, [3]verdict{doubt, good, good}},
		"nowhere":             {"auto", doubt, bad, doubt, [3]verdict{doubt, bad, doubt}},
		"the protocol wanted": {"agent", doubt, good, good, [3]verdict{bad, good, good}},
		"the program wanted":  {"cli", good, bad, doubt, [3]verdict{good, bad, doubt}},
	} {
		found := [][]finding{{{Name: "account", State: c.account}}, {{Name: "cursor-agent", State: c.cli}, {Name: "login", State: c.login}}}
		settleBackends(found, c.setting)
		if got := [3]verdict{found[0][0].State, found[1][0].State, found[1][1].State}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
