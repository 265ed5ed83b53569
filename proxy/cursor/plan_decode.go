package cursor

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"cursortray/proxy/money"
)

// The answers about a plan, read as leniently as the lists of models. Not used,
// because nothing needs them or because sources disagree on what they are:
// totalPercentUsed (it includes bonus pools), the display messages and
// threshold, autoBucketModels, overallLimit and its kin, isUnlimited, the price
// and next upgrade of GetPlanInfo.

// float returns a number that may be written as a text. NaN and infinity are
// as good as none.
func (f fields) float(name string) (float64, bool) {
	text := strings.Trim(string(f[fieldKey(name)]), `"`)
	if strings.ContainsAny(text, "xX_") { // forms that Go reads and JSON has not
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// cents returns an amount, and whether there is one. Cursor leaves out those of
// zero.
func (f fields) cents(name string) (Money, bool) {
	n, ok := f.float(name)
	return money.OfCents(n), ok
}

// time returns a moment in milliseconds, seconds or ISO form.
func (f fields) time(name string) time.Time {
	n, ok := f.float(name)
	switch {
	case ok && n >= 1e10 && n < 1e14:
		return time.UnixMilli(int64(n)).UTC()
	case ok && n > 0 && n < 1e10:
		return time.Unix(int64(n), 0).UTC()
	}
	t, err := time.Parse(time.RFC3339, f.text(name))
	if err != nil || t.Year() < 2000 || t.Year() > 9000 {
		return time.Time{}
	}
	return t.UTC()
}

// readPeriod reads GetCurrentPeriodUsage; false if it has no figures, which
// means that it was asked in the wrong way for this account.
func readPeriod(f fields) (Plan, bool) {
	var p Plan
	start, end := f.time("billingCycleStart"), f.time("billingCycleEnd")
	usage := f.object("planUsage")
	if len(usage) == 0 || !start.IsZero() && start.Equal(end) {
		return Plan{}, false
	}
	p.Resets = end
	state := p.readAllowances(usage)
	used, hasUsed := usage.cents("includedSpend")
	if !hasUsed {
		used, hasUsed = usage.cents("totalSpend")
	}
	p.setIncluded(usage, used, hasUsed)
	p.Bonus, _ = usage.cents("bonusSpend")
	p.readSpendLimit(f.object("spendLimitUsage"))
	p.State = max(state, p.Included.state())
	return p, p.hasFigures()
}

// roundToCents makes the amounts those of a bill.
func (p *Plan) roundToCents() {
	for _, m := range []*Money{
		&p.Included.Used, &p.Included.Limit, &p.Bonus, &p.OnDemand.Used, &p.OnDemand.Limit, &p.Pool.Used, &p.Pool.Limit, &p.Credits,
	} {
		*m = m.ToCents()
	}
}

func (p *Plan) hasFigures() bool {
	return p.CursorModels.known || p.OtherModels.known || p.Included != Amount{} || p.Pool != Amount{} || p.OnDemand.State == OnDemandOn
}

// readAllowances reads the two percentages, which are Cursor's own and not to
// be worked out where they are given.
func (p *Plan) readAllowances(usage fields) PlanState {
	var ours, others PlanState
	p.CursorModels, ours = usage.allowance("autoPercentUsed", "autoSpend", "autoLimit")
	p.OtherModels, others = usage.allowance("apiPercentUsed", "apiSpend", "apiLimit")
	if ours == PlanLimited && p.OtherModels.known {
		ours = PlanNear // the others still answer
	}
	return max(ours, others)
}

// allowance reads one of them. Its state is that of the exact figures.
func (f fields) allowance(percent, used, limit string) (Percent, PlanState) {
	if n, ok := f.float(percent); ok {
		return newPercent(n), stateOf(n >= 80, n >= 100)
	}
	a := f.amount(used, limit)
	return a.Percent(), a.state()
}

func (f fields) amount(used, limit string) Amount {
	var a Amount
	a.Used, _ = f.cents(used)
	a.Limit, _ = f.cents(limit)
	return a
}

// setIncluded uses that what is used and what remains make the limit.
func (p *Plan) setIncluded(bucket fields, used Money, hasUsed bool) {
	limit, _ := bucket.cents("limit")
	remaining, hasRemaining := bucket.cents("remaining")
	if limit.IsZero() && hasUsed {
		limit = used.Add(remaining)
		if !hasRemaining {
			limit = Money{}
		}
	}
	if !hasUsed {
		used = limit.Sub(remaining)
	}
	if hasUsed || hasRemaining {
		p.Included = Amount{used, limit}
	}
	if p.Included.Limit.IsZero() {
		p.Included = Amount{}
	}
}

func stateOf(near, limited bool) PlanState {
	switch {
	case limited:
		return PlanLimited
	case near:
		return PlanNear
	}
	return PlanOK
}

func (a Amount) state() PlanState {
	if a.Limit.IsZero() {
		return PlanOK
	}
	scaled, reached := a.Used.Times(100, 80)
	return stateOf(!reached || scaled.Compare(a.Limit) >= 0, a.Used.Compare(a.Limit) >= 0)
}

func (r Requests) state() PlanState {
	return stateOf(float64(r.Used) >= 0.8*float64(r.Limit), r.Used >= r.Limit)
}

// isTeamSeat reads the word for who pays: "user-team" is a member with a limit
// of their own.
func isTeamSeat(limitType string) bool { return limitType == "team" || limitType == "user-team" }

// readSpendLimit reads what is spent beyond the plan. A member of a team has a
// limit of their own, shares a pool, or both.
func (p *Plan) readSpendLimit(f fields) {
	p.Team = p.Team || isTeamSeat(f.text("limitType"))
	own, pool := f.bucket("individual"), f.bucket("pooled")
	total, _ := f.cents("totalSpend")
	switch {
	case !own.Limit.IsZero():
		if own.Used.IsZero() && pool.Limit.IsZero() {
			own.Used = total
		}
		p.OnDemand, p.Pool = OnDemand{OnDemandOn, own.Used, own.Limit}, pool
	case !own.Used.IsZero():
		p.OnDemand, p.Pool = OnDemand{OnDemandOn, own.Used, Money{}}, pool
	case !pool.Limit.IsZero():
		p.OnDemand = OnDemand{OnDemandOn, pool.Used, pool.Limit}
	case !pool.Used.IsZero() || !total.IsZero():
		p.OnDemand = OnDemand{OnDemandOn, firstMoney(pool.Used, total), Money{}}
	default:
		p.OnDemand = OnDemand{State: OnDemandOff}
	}
}

// bucket reads three fields with one beginning.
func (f fields) bucket(prefix string) Amount {
	return bucketOf(f, prefix+"Used", prefix+"Limit", prefix+"Remaining")
}

// bucketOf reads a sum of which the used part may only follow from what
// remains. That is left out when it is zero, and so is the used part: with
// neither nothing is known to be used.
func bucketOf(f fields, used, limit, remaining string) Amount {
	a := f.amount(used, limit)
	if left, ok := f.cents(remaining); ok && a.Used.IsZero() {
		a.Used = a.Limit.Sub(left)
	}
	return a
}

func firstMoney(a, b Money) Money {
	if a.IsZero() {
		return b
	}
	return a
}

// readSummary reads the dashboard's usage-summary; false if it has no figures.
func readSummary(f fields) (Plan, bool) {
	own, team := f.object("individualUsage"), f.object("teamUsage")
	p := Plan{Name: membership(f.text("membershipType")), Team: isTeamSeat(f.text("limitType"))}
	start := f.time("billingCycleStart")
	if end := f.time("billingCycleEnd"); !end.Equal(start) {
		p.Resets = end
	}
	plan := own.object("plan")
	if off := plan.flag("enabled"); off != nil && !*off {
		plan = nil
	}
	p.State = p.readAllowances(plan)
	used, hasUsed := plan.cents("used")
	if !hasUsed {
		used, hasUsed = plan.object("breakdown").cents("total")
	}
	p.setIncluded(plan, used, hasUsed)
	p.Bonus, _ = plan.object("breakdown").cents("bonus")
	p.readOnDemand(own, team)
	pool := team.object("pooled")
	p.Pool = bucketOf(pool, "used", "limit", "remaining")
	p.State = max(p.State, p.Included.state())
	if !p.CursorModels.known && !p.OtherModels.known && p.Included.Limit.IsZero() {
		p.State = max(p.State, p.Pool.state())
	}
	return p, p.hasFigures()
}

// readOnDemand takes the first of the member's own on-demand sum, their sum
// over all, and the team's.
func (p *Plan) readOnDemand(own, team fields) {
	for _, bucket := range []fields{own.object("onDemand"), own.object("overall"), team.object("onDemand")} {
		on := bucket.flag("enabled")
		if len(bucket) == 0 {
			continue
		}
		if on != nil && !*on {
			if p.OnDemand.State == "" {
				p.OnDemand.State = OnDemandOff
			}
			continue
		}
		a := bucketOf(bucket, "used", "limit", "remaining")
		if a != (Amount{}) {
			p.OnDemand = OnDemand{OnDemandOn, a.Used, a.Limit}
			return
		}
	}
}

// readRequests reads the counts of plans that count requests: those of the
// model with the name "gpt-4", whatever they were made with.
func readRequests(f fields) (Requests, bool) {
	counted := f.object("gpt-4")
	r := Requests{Used: counted.number("numRequests"), Limit: counted.number("maxRequestUsage")}
	return r, r.Limit > 0
}

// addInfo reads GetPlanInfo.
func (p *Plan) addInfo(f fields) {
	if name := cleanLabel(f.object("planInfo").text("planName")); name != "" {
		p.Name = name
	}
}

// addGrants reads GetCreditGrantsBalance.
func (p *Plan) addGrants(f fields) {
	total, _ := f.cents("totalCents")
	used, _ := f.cents("usedCents")
	p.Credits = p.Credits.Add(total.Sub(used))
}

// addBalance reads /api/auth/stripe: a balance below zero was paid in advance.
func (p *Plan) addBalance(f fields) {
	if balance, ok := f.float("customerBalance"); ok {
		p.Credits = p.Credits.Add(money.OfCents(-balance))
	}
}

// addHardLimit reads GetHardLimit, whose limit is in dollars.
func (p *Plan) addHardLimit(f fields) {
	if f.isTrue("noUsageBasedAllowed") {
		p.OnDemand = OnDemand{State: OnDemandOff}
		return
	}
	dollars, _ := f.float("hardLimit")
	if limit := money.OfCents(dollars * 100); p.OnDemand.Limit.IsZero() && !limit.IsZero() {
		p.OnDemand.State, p.OnDemand.Limit = OnDemandOn, limit
	}
}

// addPolicy reads GetUsageLimitPolicyStatus.
func (p *Plan) addPolicy(f fields) {
	switch strings.TrimPrefix(f.text("stage"), "LIMIT_HIT_STAGE_") {
	case "AUTO_SWITCH":
		p.Stage = StageAutoSwitch
	case "SLOW_POOL":
		p.Stage = StageSlowPool
	case "HARD_BLOCK":
		p.Stage = StageHardBlock
	default:
		if f.isTrue("isInSlowPool") {
			p.Stage = StageSlowPool
		}
	}
	if p.Resets.IsZero() {
		p.Resets = f.time("resetAtMs")
	}
}

// readTeams returns the ids of GetTeams, as they are to be sent.
func readTeams(f fields) []json.Number {
	var ids []json.Number
	for _, team := range f.objects("teams") {
		if id, ok := team.float("id"); ok && id > 0 && id < 1<<53 {
			ids = append(ids, json.Number(strconv.FormatInt(int64(id), 10)))
		}
	}
	return ids
}

// memberships are the names of plans for people.
var memberships = map[string]string{
	"free": "Hobby", "hobby": "Hobby", "free_trial": "Trial", "express": "Start", "pro": "Pro", "pro_student": "Pro Student",
	"pro_plus": "Pro+", "ultra": "Ultra", "team": "Team", "enterprise": "Enterprise",
}

// membership names a plan by its membershipType, a new one by its own word.
func membership(kind string) string {
	if name, ok := memberships[strings.ToLower(kind)]; ok {
		return name
	}
	return cleanLabel(strings.ReplaceAll(kind, "_", " "))
}
