package checkertest

import (
	"fmt"
	"os"
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
		if sc.ID != b.Scenario {
			continue
		}
		sc, _, err := b.In(sc)
		return &sc, err
	}
	return nil, fmt.Errorf("the bundle is about %s, which is not among the %d scenarios given", b.Scenario, len(list))
}

// rewrite writes what happened in place of what was recorded. Parts that are not about
// that stay as they are.
func (b *bundle) rewrite(file string, sc *scenarios.Scenario, got *checker.Replayed) error {
	cx := got.Counterexample
	verdict := checker.Holds
	if got.Broken {
		verdict = checker.Broken
	}
	b.archive.Comment = []byte(report.BundleHead(cx.Cause)) // there is no cause when it is not broken
	for i := range b.archive.Files {
		part := &b.archive.Files[i]
		text := strings.TrimSpace(string(part.Data))
		switch part.Name {
		case "setting":
			text = strings.TrimSpace(sc.Setting.Format())
		case "schedule":
			if got.Broken { // the guard of a fix keeps the schedule that broke it
				text = cx.Schedule.String()
			}
		case "trace":
			text = strings.TrimSpace(report.TraceText(cx.Trace))
		case "history":
			text = strings.TrimSpace(report.HistoryText(sc, cx))
		case "verdict":
			text = verdict.String()
		}
		part.Data = []byte(text + "\n")
	}
	return os.WriteFile(file, txtar.Format(b.archive), 0o644)
}
