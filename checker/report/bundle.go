package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A BundleFile is one counterexample as a file that people read and repositories keep:
// a txtar archive of what to run (scenario, property, setting, schedule) and of what it
// showed (trace, history, verdict). The parts are text.
type BundleFile struct {
	Scenario string
	Property scenarios.Property
	// Processes, Crashes, Stalls and PowerLosses are the setting under which it broke.
	Processes, Crashes, Stalls, PowerLosses int
	// StallFor is by how much a stall moves the clock; 0 when there is no stall.
	StallFor time.Duration
	Schedule sched.Schedule
	Verdict  checker.Verdict
	Cause    string
	// Trace and History have a line for each call and each operation.
	Trace, History string
}

// bundleVersion is the version of the format, on the first line of a file.
const bundleVersion = "lockpick bundle, version 1"

// Bundle renders the counterexample of a result as a bundle.
func Bundle(r *checker.Result) ([]byte, error) {
	cx := r.Counterexample
	if cx == nil {
		return nil, fmt.Errorf("report: %s, %s: there is no counterexample to bundle", r.Scenario.ID, r.Property)
	}
	st := &r.Scenario.Setting
	a := txtar.Archive{Comment: []byte(bundleVersion + "\n" + cx.Cause + "\n")}
	for _, f := range []struct{ name, text string }{
		{"scenario", r.Scenario.ID},
		{"property", string(r.Property)},
		{"setting", bundleSetting(st)},
		{"schedule", cx.Schedule.String()},
		{"trace", TraceText(cx.Trace)},
		{"history", HistoryText(r.Scenario, cx)},
		{"verdict", r.Verdict.String()},
	} {
		a.Files = append(a.Files, txtar.File{Name: f.name, Data: []byte(strings.TrimRight(f.text, "\n") + "\n")})
	}
	return txtar.Format(&a), nil
}

// bundleSetting lists the bounds, the rarer ones where there are any.
func bundleSetting(st *scenarios.Setting) string {
	s := fmt.Sprintf("processes %d\ncrashes %d\nstalls %d", st.Processes, st.Crashes, st.Stalls)
	if st.Stalls > 0 {
		s += fmt.Sprintf("\nstall-for %s", st.StallFor)
	}
	if st.PowerLosses > 0 {
		s += fmt.Sprintf("\npower-losses %d", st.PowerLosses)
	}
	return s
}

// TraceText is a trace as a bundle keeps it: a line for each call, with the step, who
// made it, the call in full and its answer.
func TraceText(tr trace.Trace) string {
	var b strings.Builder
	for i := range tr {
		st := &tr[i]
		switch st.Choice.Action {
		case sched.Kill:
			fmt.Fprintf(&b, "%d %s killed\n", st.N, st.Choice.Task)
		case sched.PowerLoss:
			fmt.Fprintf(&b, "%d %s the power is lost\n", st.N, st.Choice)
		case sched.Stall:
			fmt.Fprintf(&b, "%d ~ the clock jumps\n", st.N)
		}
		for _, c := range st.Calls {
			fmt.Fprintf(&b, "%d %s %s\n", st.N, st.Choice.Task, strings.TrimSpace(oneLine(c.Op.String()+" -> "+c.Result.Describe(c.Op))))
		}
	}
	return b.String()
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\x00", " ").Replace(s) }

// HistoryText is a history as a bundle keeps it: a line for each operation, in the
// order of their invocations, with its task, first and last step.
func HistoryText(sc *scenarios.Scenario, cx *trace.Counterexample) string {
	clients := NewChart(sc, &trace.Counterexample{}).Lanes
	var b strings.Builder
	for _, op := range cx.History {
		who := "crash"
		if op.ClientId < len(clients) {
			who = clients[op.ClientId].Name
		}
		from, to := trace.StepsOf(op)
		last := "…"
		if to > 0 {
			last = strconv.Itoa(to)
		}
		fmt.Fprintf(&b, "%s %d-%s %v -> %v\n", who, from, last, op.Input, op.Output)
	}
	return b.String()
}

// ParseBundle reads a bundle.
func ParseBundle(text []byte) (*BundleFile, error) {
	a := txtar.Parse(text)
	if !bytes.HasPrefix(a.Comment, []byte(bundleVersion)) {
		return nil, fmt.Errorf("report: no bundle: want %q on the first line", bundleVersion)
	}
	_, cause, _ := strings.Cut(string(a.Comment), "\n")
	b := &BundleFile{Cause: strings.TrimSpace(cause)}
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = strings.TrimSpace(string(f.Data))
	}
	for _, name := range []string{"scenario", "property", "setting", "schedule", "verdict"} {
		if parts[name] == "" {
			return nil, fmt.Errorf("report: the bundle has no part %q", name)
		}
	}
	b.Scenario, b.Property = parts["scenario"], scenarios.Property(parts["property"])
	b.Trace, b.History = parts["trace"], parts["history"]
	if b.Property.Judgement() == "" {
		return nil, fmt.Errorf("report: the bundle asks for an unknown property %q", b.Property)
	}
	if err := b.parseSetting(parts["setting"]); err != nil {
		return nil, err
	}
	if err := b.parseVerdict(parts["verdict"]); err != nil {
		return nil, err
	}
	var err error
	if b.Schedule, err = sched.ParseSchedule(parts["schedule"]); err != nil {
		return nil, fmt.Errorf("report: the bundle's schedule: %w", err)
	}
	return b, nil
}

func (b *BundleFile) parseSetting(text string) error {
	for _, l := range strings.Split(text, "\n") {
		name, value, _ := strings.Cut(l, " ")
		if name == "stall-for" {
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return fmt.Errorf("report: the bundle's setting: want a positive duration in %q", l)
			}
			b.StallFor = d
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("report: the bundle's setting: want a number in %q", l)
		}
		switch name {
		case "processes":
			b.Processes = n
		case "crashes":
			b.Crashes = n
		case "stalls":
			b.Stalls = n
		case "power-losses":
			b.PowerLosses = n
		default:
			return fmt.Errorf("report: the bundle's setting: unknown word %q", name)
		}
	}
	return nil
}

func (b *BundleFile) parseVerdict(text string) error {
	for _, v := range []checker.Verdict{checker.Unknown, checker.Holds, checker.Broken} {
		if v.String() == text {
			b.Verdict = v
			return nil
		}
	}
	return fmt.Errorf("report: the bundle's verdict: unknown word %q", text)
}
