package checkertest

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// A bundle is a bundle file with what is expected of it.
type bundle struct {
	*report.BundleFile
	expectBroken bool
	archive      *txtar.Archive
	// changed is what has changed in the scenario's own part of the setting.
	changed []scenarios.Change
}

func readBundle(file string) (*bundle, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f, err := report.ParseBundle(text)
	if err != nil {
		return nil, err
	}
	b := &bundle{BundleFile: f, expectBroken: f.Verdict == checker.Broken, archive: txtar.Parse(text)}
	for _, part := range b.archive.Files {
		if part.Name != "expect" {
			continue
		}
		switch said := strings.TrimSpace(string(part.Data)); said {
		case "broken":
			b.expectBroken = true
		case "not broken":
			b.expectBroken = false
		default:
			return nil, fmt.Errorf("the bundle expects %q: want broken or not broken", said)
		}
	}
	return b, nil
}

// scenario finds the bundle's scenario and puts it into the bundle's setting.
func (b *bundle) scenario(list []scenarios.Scenario) (*scenarios.Scenario, error) {
	for _, sc := range list {
		if sc.ID == b.Scenario {
			sc, changed, err := sc.Restored(b.Setting)
			b.changed = changed
			return &sc, err
		}
	}
	return nil, fmt.Errorf("the bundle is about %s, which is not among the %d scenarios given", b.Scenario, len(list))
}

// rewrite writes what happened in place of what was recorded. Parts that are not about
// that stay as they are, and so does the schedule of a guard: it is the one that broke
// what was there before the fix.
func (b *bundle) rewrite(file string, r *checker.Result) error {
	cx := r.Counterexample
	b.archive.Comment = []byte(report.BundleHead(cx.Cause)) // there is none when it is not broken
	b.part("setting", r.Scenario.Setting.Format())
	if r.Verdict == checker.Broken {
		b.part("schedule", cx.Schedule.String())
		b.part("calls", strings.Join(report.CallsOf(cx.Trace), "\n"))
	} else if b.Calls != nil {
		b.part("calls", strings.Join(b.Calls, "\n"))
	}
	b.part("trace", report.TraceText(cx.Trace))
	b.part("history", report.HistoryText(r.Scenario, cx))
	b.part("verdict", r.Verdict.String())
	return os.WriteFile(file, txtar.Format(b.archive), 0o644)
}

// part writes one part anew. One that is not there yet comes after the schedule.
func (b *bundle) part(name, text string) {
	data := []byte(strings.TrimSpace(text) + "\n")
	after := len(b.archive.Files)
	for i := range b.archive.Files {
		switch b.archive.Files[i].Name {
		case name:
			b.archive.Files[i].Data = data
			return
		case "schedule":
			after = i + 1
		}
	}
	b.archive.Files = slices.Insert(b.archive.Files, after, txtar.File{Name: name, Data: data})
}
