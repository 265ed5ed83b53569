package cursor

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func dollars(t *testing.T, text string) Money {
	t.Helper()
	var m Money
	if err := m.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMU5_PlanFigures: the server's percentages count, odd shapes are read or
// not reported.
func TestMU5_PlanFigures(t *testing.T) {
	tests := []struct {
		name, body string
		summary    bool   // else GetCurrentPeriodUsage
		want       string // the lines, "" for no figures
	}{
		{"percentage next to amounts", `{"planUsage":{"apiPercentUsed":17.2,"apiSpend":900,"apiLimit":2000,"includedSpend":900,"limit":2000}}`, false,
			"Other models 17.2%; Included $9.00 of $20.00; On-demand off; "},
		{"amounts without a percentage", `{"planUsage":{"apiSpend":900,"apiLimit":2000,"autoSpend":0,"autoLimit":"500"}}`, false,
			"Cursor models 0%; Other models 45%; On-demand off; "},
		{"used and remaining without a limit", `{"planUsage":{"includedSpend":500,"remaining":1500}}`, false,
			"Included $5.00 of $20.00; On-demand off; "},
		{"nothing used", `{"planUsage":{"autoPercentUsed":0,"apiPercentUsed":0,"limit":2000,"remaining":2000}}`, false,
			"Cursor models 0%; Other models 0%; Included $0.00 of $20.00; On-demand off; "},
		{"totalSpend where the included part is missing", `{"planUsage":{"totalSpend":700,"limit":2000}}`, false,
			"Included $7.00 of $20.00; On-demand off; "},
		{"limit alone tells nothing", `{"planUsage":{"limit":2000}}`, false, ""},
		{"beyond the ends", `{"planUsage":{"autoPercentUsed":-3,"apiPercentUsed":160.5,"includedSpend":64200,"limit":40000}}`, false,
			"Cursor models 0%; Other models 100%; Included $642.00 of $400.00; On-demand off; "},
		{"numbers as texts and texts as numbers", `{"plan_usage":{"auto_percent_used":"41.25","limit":"2000","remaining":"1000","includedSpend":true},"billingCycleEnd":1794232800}`, false,
			"Cursor models 41.3%; Included $10.00 of $20.00; On-demand off; "},
		{"no numbers at all", `{"planUsage":{"autoPercentUsed":"NaN","apiPercentUsed":"Infinity","limit":"1e999","remaining":"0x10"}}`, false, ""},
		{"pool only", `{"planUsage":{"apiPercentUsed":1},"spendLimitUsage":{"pooledLimit":50000,"pooledUsed":12500}}`, false,
			"Other models 1%; On-demand $125.00 of $500.00; "},
		{"own spend from the pool", `{"planUsage":{"apiPercentUsed":1},"spendLimitUsage":{"pooledLimit":50000,"pooledRemaining":37500,"individualUsed":640}}`, false,
			"Other models 1%; On-demand $6.40; Team pool $125.00 of $500.00; "},
		{"own limit, nothing of it spent", `{"planUsage":{"apiPercentUsed":1},"spendLimitUsage":{"pooledLimit":50000,"pooledUsed":12500,"individualLimit":10000,"individualRemaining":10000,"totalSpend":12500}}`, false,
			"Other models 1%; On-demand $0.00 of $100.00; Team pool $125.00 of $500.00; "},
		{"spent without a limit", `{"planUsage":{"apiPercentUsed":1},"spendLimitUsage":{"totalSpend":1234}}`, false,
			"Other models 1%; On-demand $12.34; "},
		{"seat in a team", `{"planUsage":{"apiPercentUsed":70,"includedSpend":1410,"limit":2000},"spendLimitUsage":{"limitType":"team"}}`, false,
			"Other models 70%; On-demand off; "},
		{"summary with a pool only", `{"limitType":"team","individualUsage":{},"teamUsage":{"pooled":{"enabled":true,"used":31,"limit":500,"remaining":469}}}`, true,
			"Team pool $0.31 of $5.00; "},
		{"summary of a student", `{"membershipType":"pro_student","individualUsage":{"plan":{"enabled":true,"limit":2000,"remaining":1500,"breakdown":{"total":500,"bonus":20}},"onDemand":{"enabled":false,"used":0,"limit":null}}}`, true,
			"Included $5.00 of $20.00 (+ $0.20 bonus); On-demand off; "},
		{"summary with the sum over all", `{"individualUsage":{"overall":{"enabled":true,"used":100,"limit":1000}}}`, true,
			"On-demand $1.00 of $10.00; "},
		{"summary of a team's on-demand", `{"teamUsage":{"onDemand":{"enabled":true,"limit":1000,"remaining":250}}}`, true,
			"On-demand $7.50 of $10.00; "},
		{"summary without anything", `{"individualUsage":{"plan":{"enabled":false,"limit":2000,"used":5}}}`, true, ""},
		{"no objects", `{"planUsage":[1],"spendLimitUsage":"x"}`, false, ""},
	}
	for _, tt := range tests {
		read := readPeriod
		if tt.summary {
			read = readSummary
		}
		p, ok := read(parseFields([]byte(tt.body)))
		got := ""
		if ok {
			for _, line := range p.Lines() {
				got += line.Label + " " + line.Value + "; "
			}
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestPlanStates(t *testing.T) {
	tests := []struct {
		usage string
		want  PlanState
	}{
		{`"apiPercentUsed":79.99`, PlanOK},
		{`"apiPercentUsed":80`, PlanNear},
		{`"apiPercentUsed":99.99`, PlanNear},
		{`"apiPercentUsed":100`, PlanLimited},
		{`"autoPercentUsed":100,"apiPercentUsed":5`, PlanNear}, // other models still answer
		{`"autoPercentUsed":100`, PlanLimited},
		{`"autoPercentUsed":81,"apiPercentUsed":5`, PlanNear},
		{`"apiPercentUsed":5,"includedSpend":1600,"limit":2000`, PlanNear},
		{`"apiPercentUsed":5,"includedSpend":2000,"limit":2000`, PlanLimited},
		{`"apiSpend":1599.2,"apiLimit":2000`, PlanOK}, // shown as 80%
		{`"apiSpend":1999.9,"apiLimit":2000`, PlanNear},
		{`"apiSpend":2000,"apiLimit":2000`, PlanLimited},
		{`"apiPercentUsed":5,"includedSpend":1999,"limit":2000`, PlanNear},
		{`"apiPercentUsed":5,"includedSpend":199990,"limit":200000`, PlanNear}, // shown as 100%
		{`"apiPercentUsed":5,"includedSpend":1e300,"limit":2000`, PlanLimited},
		{`"totalPercentUsed":100,"apiPercentUsed":5`, PlanOK}, // means too many things
	}
	for _, tt := range tests {
		if p, _ := readPeriod(parseFields([]byte(`{"planUsage":{` + tt.usage + `}}`))); p.State != tt.want {
			t.Errorf("%s: %v, want %v", tt.usage, p.State, tt.want)
		}
	}
}

func TestPlanAmountsAreThoseOfABill(t *testing.T) {
	p, _ := readPeriod(parseFields([]byte(`{"planUsage":{"includedSpend":1288.456,"limit":1e300,"bonusSpend":0.4},"spendLimitUsage":{"limitType":"user-team"}}`)))
	p.roundToCents()
	text, err := json.Marshal(p)
	const want = `{"state":"ok","team":true,"included":{"used_usd":"12.88","limit_usd":"9223372.03"},"on_demand":{"state":"off","used_usd":"0.00"}}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

func TestPercentRounding(t *testing.T) {
	tests := []struct {
		percent float64
		want    string
	}{
		{0, "0%"}, {0.04, "0%"}, {0.05, "0.1%"}, {0.36, "0.4%"}, {1.15, "1.2%"}, {41.25, "41.3%"}, {41.24999, "41.2%"}, {1.005, "1%"},
		{28.622222222222224, "28.6%"}, {99.95, "100%"}, {100, "100%"}, {1e300, "100%"}, {-1, "0%"}, {math.Inf(1), "100%"}, {math.NaN(), ""},
	}
	for _, tt := range tests {
		if got := newPercent(tt.percent).String(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.percent, got, tt.want)
		}
	}
	sums := []struct{ used, limit, want string }{
		{"0", "20", "0%"}, {"12.88", "20", "64.4%"}, {"4125", "10000", "41.3%"}, {"0.01", "20", "0.1%"}, {"0.009", "20", "0%"},
		{"21", "20", "100%"}, {"9000000", "0.000000000001", "100%"}, {"5", "0", ""},
	}
	for _, tt := range sums {
		if got := (Amount{dollars(t, tt.used), dollars(t, tt.limit)}).Percent().String(); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.used, tt.limit, got, tt.want)
		}
	}
}

func TestPlanAge(t *testing.T) {
	at := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		age  time.Duration
		want string
	}{
		{-time.Hour, ""}, {0, ""}, {10 * time.Minute, ""}, {10*time.Minute + 1, "10 min ago"}, {119 * time.Minute, "119 min ago"},
		{2 * time.Hour, "2 hours ago"}, {47 * time.Hour, "47 hours ago"}, {72 * time.Hour, "3 days ago"},
	}
	for _, tt := range tests {
		if got := (Plan{Fetched: at}).Age(at.Add(tt.age)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.age, got, tt.want)
		}
	}
	if got := (Plan{}).Age(at); got != "" {
		t.Errorf("never fetched: %q", got)
	}
}

func TestPlanTitle(t *testing.T) {
	p := Plan{Name: "Pro", Resets: time.Date(2026, 11, 9, 23, 0, 0, 0, time.UTC)}
	if got := p.Title(time.UTC); got != "Cursor Pro · resets 9 Nov" {
		t.Error(got)
	}
	if got := p.Title(time.FixedZone("", 2*60*60)); got != "Cursor Pro · resets 10 Nov" {
		t.Error(got)
	}
	if got := (Plan{}).Title(time.UTC); got != "Cursor" {
		t.Error(got)
	}
}

// TestPlanAsJSON: what is not known is not there, and nothing is 0 instead.
func TestPlanAsJSON(t *testing.T) {
	p, _ := readPeriod(parseFields([]byte(`{"billingCycleEnd":"1794232800000","planUsage":{"autoPercentUsed":0,"includedSpend":1288,"limit":2000}}`)))
	got, err := json.Marshal(p)
	want := `{"state":"ok","cursor_models_percent":0,"included":{"used_usd":"12.88","limit_usd":"20.00"},` +
		`"on_demand":{"state":"off","used_usd":"0.00"},"resets_at":"2026-11-09T14:00:00Z"}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
	got, err = json.Marshal(Plan{})
	if err != nil || string(got) != `{"state":"not_reported"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzPlan(f *testing.F) {
	for _, c := range loadPlanCases(f) {
		f.Add([]byte(c.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := parseFields(body)
		for _, read := range []func(fields) (Plan, bool){readPeriod, readSummary} {
			p, _ := read(answer)
			p.addInfo(answer)
			p.addGrants(answer)
			p.addBalance(answer)
			p.addHardLimit(answer)
			p.addPolicy(answer)
			p.Requests, _ = readRequests(answer)
			for _, m := range []Money{p.Included.Used, p.Included.Limit, p.Bonus, p.OnDemand.Used, p.OnDemand.Limit, p.Pool.Used, p.Credits} {
				if m.Pico() < 0 {
					t.Fatalf("%+v", p)
				}
			}
			for _, percent := range []Percent{p.CursorModels, p.OtherModels, p.Included.Percent(), p.Requests.Percent()} {
				if percent.tenths < 0 || percent.tenths > 1000 {
					t.Fatalf("%+v", p)
				}
			}
			p.Lines()
			p.Title(time.UTC)
			if _, err := json.Marshal(p); err != nil {
				t.Fatal(err)
			}
		}
		readTeams(answer)
	})
}
