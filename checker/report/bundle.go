package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A BundleFile is one counterexample as a file that people read and repositories keep:
// a txtar archive of what to run (scenario, property, setting, schedule) and of what it
// showed (trace, history, verdict). The parts are text.
type BundleFile struct {
	Scenario string
	// Property is the id of the property that broke; [scenarios.FindProperty] finds it.
	Property string
	// Setting is the one under which it broke; see [scenarios.Scenario.Restored].
	Setting  scenarios.Setting
	Schedule sched.Schedule
	// Calls are what each choice of the schedule came to when it broke the property, as
	// [CallsOf] lists them; nil when the file does not say.
	Calls   []string
	Verdict checker.Verdict
	Cause   string
	// Trace and History have a line for each call and each operation.
	Trace, History string
}

// bundleLine is the first line of a file.
const bundleLine = "lockpick bundle, version 2"

// Bundle renders the counterexample of a result as a bundle.
func Bundle(r *checker.Result) ([]byte, error) {
	cx := r.Counterexample
	if cx == nil {
		return nil, fmt.Errorf("report: %s, %s: there is no counterexample to bundle", r.Scenario.ID, r.Property)
	}
	a := txtar.Archive{Comment: []byte(BundleHead(cx.Cause))}
	for _, f := range []struct{ name, text string }{
		{"scenario", r.Scenario.ID},
		{"property", r.Property.ID},
		{"setting", r.Scenario.Setting.Format()},
		{"schedule", cx.Schedule.String()},
		{"calls", strings.Join(CallsOf(cx.Trace), "\n")},
		{"trace", TraceText(cx.Trace)},
		{"history", HistoryText(r.Scenario, cx)},
		{"verdict", r.Verdict.String()},
	} {
		a.Files = append(a.Files, txtar.File{Name: f.name, Data: []byte(strings.TrimRight(f.text, "\n") + "\n")})
	}
	return txtar.Format(&a), nil
}

// BundleHead is what stands before the parts of a bundle: the version and the cause, which
// may be empty.
func BundleHead(cause string) string {
	if cause != "" {
		cause += "\n"
	}
	return bundleLine + "\n" + cause
}

// CallsOf lists what each step of a trace did, in a line: who made which call. A schedule
// says only who stepped; with the calls it can be followed when a protocol makes one more
// or one less.
func CallsOf(tr trace.Trace) []string {
	lines := make([]string, len(tr))
	for i := range tr {
		st := &tr[i]
		calls := lists.Map(st.Calls, func(c trace.Call) string { return oneLine(c.Op.String()) })
		switch st.Choice.Action {
		case sched.Run:
			lines[i] = st.Choice.Task.String() + " " + strings.Join(calls, "; ")
		default:
			lines[i] = st.Choice.String()
		}
	}
	return lines
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
		case sched.Signal:
			fmt.Fprintf(&b, "%d %s gets a signal\n", st.N, st.Choice.Task)
		case sched.PowerLoss:
			fmt.Fprintf(&b, "%d %s the power is lost\n", st.N, st.Choice)
		case sched.Stall:
			fmt.Fprintf(&b, "%d ~ the clock jumps\n", st.N)
		}
		if st.Choice.Fails != "" {
			fmt.Fprintf(&b, "%d %s the call is made to fail\n", st.N, st.Choice)
		}
		for _, c := range st.Calls {
			fmt.Fprintf(&b, "%d %s %s\n", st.N, st.Choice.Task, strings.TrimSpace(oneLine(c.Op.String()+" "+
				"-> "+c.Result.Describe(c.Op))))
		}
	}
	return b.String()
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\x00", " ").Replace(s) }

// HistoryText is a history as a bundle keeps it: a line for each operation, in the
// order of their invocations, with its task, first and last step.
func HistoryText(sc *scenarios.Scenario, cx *trace.Counterexample) string {
	clients := trace.Tasks(&sc.Setting)
	var b strings.Builder
	for _, op := range cx.History {
		who := "crash"
		if op.ClientId < len(clients) {
			who = clients[op.ClientId].String()
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
	first, cause, _ := strings.Cut(string(a.Comment), "\n")
	if strings.TrimSpace(first) != bundleLine {
		return nil, fmt.Errorf("report: no bundle that this lockpick reads: want %q on the first line, not %q",
			bundleLine, first)
	}
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = strings.TrimSpace(string(f.Data))
	}
	for _, name := range []string{"scenario", "property", "setting", "schedule", "verdict"} {
		if parts[name] == "" {
			return nil, fmt.Errorf("report: the bundle has no part %q", name)
		}
	}
	b := &BundleFile{
		Scenario: parts["scenario"], Property: parts["property"], Cause: strings.TrimSpace(cause),
		Trace: parts["trace"], History: parts["history"],
	}
	var err error
	if b.Setting, err = scenarios.ParseSetting(parts["setting"]); err != nil {
		return nil, fmt.Errorf("report: the bundle's setting: %w", err)
	}
	if err := b.parseVerdict(parts["verdict"]); err != nil {
		return nil, err
	}
	if b.Schedule, err = sched.ParseSchedule(parts["schedule"]); err != nil {
		return nil, fmt.Errorf("report: the bundle's schedule: %w", err)
	}
	if calls, there := parts["calls"]; there {
		b.Calls = strings.Split(calls, "\n")
		if len(b.Calls) != len(b.Schedule) {
			return nil, fmt.Errorf("report: the bundle's calls: want a line for each of the %d choices of the "+
				"schedule, not %d", len(b.Schedule), len(b.Calls))
		}
	}
	return b, nil
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

// ReplayCommand is the command that shows r's counterexample again, in the setting that
// the scenario is in.
func ReplayCommand(r *checker.Result, o Options) string {
	if o.Replay != nil {
		return o.Replay(r)
	}
	words := []string{o.program(), "replay", ShellWord(r.Scenario.ID), ShellWord(r.Counterexample.Schedule.String())}
	// Without the flag, replay takes the first property claimed broken that breaks.
	if first, ok := firstBroken(r.Scenario); !ok || first != r.Property {
		words = append(words, "--property", r.Property.ID)
	}
	return inSetting(words, r.Scenario)
}

// RepairCommand is the command that looks for a change of a protocol in Go after which r is no longer broken, in the
// setting that the scenario is in; empty where it would not ask for r's property, or could change nothing.
func RepairCommand(r *checker.Result, o Options) string {
	asked := slices.ContainsFunc(r.Scenario.Claims, func(c scenarios.Claim) bool { return c.Property == r.Property })
	if r.Verdict != checker.Broken || r.Scenario.External || !asked {
		return ""
	}
	return inSetting([]string{o.program(), "repair", ShellWord(r.Scenario.ID)}, r.Scenario)
}

// inSetting is a command with the flags of the setting that a scenario is in.
func inSetting(words []string, sc *scenarios.Scenario) string {
	for _, c := range sc.Changed() {
		if c.Flag != "" {
			words = append(words, "--"+c.Flag, ShellWord(c.To))
		}
	}
	return strings.Join(words, " ")
}

func firstBroken(sc *scenarios.Scenario) (*scenarios.Property, bool) {
	for _, c := range sc.Claims {
		if c.Verdict == checker.Broken {
			return c.Property, true
		}
	}
	return nil, false
}

// ShellWord quotes a word for a shell when it needs it: with quotation marks, which every
// shell knows, or, when it has what cannot be shown, as $'…' does.
func ShellWord(word string) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./+,:@%"
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !strings.ContainsRune(safe, r) }) < 0 {
		return word
	}
	if Visible(word) != word {
		var b strings.Builder
		for _, c := range []byte(word) {
			switch {
			case c == '\'' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c > '~':
				fmt.Fprintf(&b, `\x%02x`, c)
			default:
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
