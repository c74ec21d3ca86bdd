// Package decided has what was decided of every claim of package scenarios/all: verdict,
// smallest schedule, and cause, as they are kept in rows.txt. It is for tests only.
//
// One test decides every row (internal/reference, TestEveryRow), compares what it finds with
// rows.txt, and writes the file with -update. Tests of other packages that need a row's
// smallest schedule take it from here, and need not decide the row once more.
//
// It knows the file. It must not know how a verdict comes about, nor any scenario.
//
// Limits: a row that is broken in one case of file systems only has to have a setting that
// assumes the case; the file does not name cases.
package decided

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed rows.txt
var rows string

// A Row is one claim with what was decided of it.
type Row struct {
	// Scenario and Property are ids; Contenders is how many tasks want the lock.
	Scenario   string
	Contenders int
	Property   string
	// Verdict is "broken" or "holds".
	Verdict string
	// Schedule is the smallest that breaks the property; empty when it holds.
	Schedule string
	// Conditions are what the verdict depends on that is not the program's doing.
	Conditions []string
	// Mistake and Cause say why it is broken; empty when it holds.
	Mistake, Cause string
}

// String is the row as it is in the file: a line, and one for the cause.
func (r Row) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s %s", r.Scenario, r.Contenders, r.Property, r.Verdict)
	if r.Schedule != "" {
		b.WriteString(" " + r.Schedule)
	}
	for _, c := range r.Conditions {
		b.WriteString("; " + c)
	}
	b.WriteString("\n")
	if r.Mistake != "" {
		fmt.Fprintf(&b, "\t%s: %s\n", r.Mistake, r.Cause)
	}
	return b.String()
}

// Rows reads the file, in the order of package scenarios/all.
func Rows() []Row {
	var out []Row
	for line := range strings.Lines(rows) {
		line = strings.TrimSuffix(line, "\n")
		if cause, ok := strings.CutPrefix(line, "\t"); ok {
			last := &out[len(out)-1]
			last.Mistake, last.Cause, _ = strings.Cut(cause, ": ")
			continue
		}
		parts := strings.Split(line, "; ")
		words := strings.SplitN(parts[0], " ", 5)
		r := Row{Scenario: words[0], Property: words[2], Verdict: words[3]}
		if _, err := fmt.Sscan(words[1], &r.Contenders); err != nil {
			panic("decided: rows.txt: " + line)
		}
		if len(words) > 4 {
			r.Schedule = words[4]
		}
		if len(parts) > 1 {
			r.Conditions = parts[1:]
		}
		out = append(out, r)
	}
	return out
}

// Of returns the row of a claim; ok is false when there is none.
func Of(scenario, property string) (row Row, ok bool) {
	for _, r := range Rows() {
		if r.Scenario == scenario && r.Property == property {
			return r, true
		}
	}
	return Row{}, false
}
