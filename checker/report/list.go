package report

import (
	"fmt"
	"io"

	"lockpick/checker"
	"lockpick/scenarios"
)

// maxSummaries is how many scenarios a list shows with their summaries: what is longer is
// to be looked through.
const maxSummaries = 60

// List writes scenarios for a person: a line for each, and what it claims; up to
// [maxSummaries] of them with what they do, and more with how to choose among them.
func List(w io.Writer, list []scenarios.Scenario, s Style) error {
	b := newSheet(w, Options{Style: s})
	system := ""
	width := 0
	for i := range list {
		width = max(width, columns(rowName(&list[i])))
	}
	for i := range list {
		sc := &list[i]
		if sc.System() != system {
			if system != "" {
				b.line("")
			}
			system = sc.System()
			b.line(s.paint(bold, Visible(system)))
		}
		pieces := []piece{pieceOf(plain, "  "+pad(rowName(sc), width))}
		for _, c := range sc.Claims {
			pieces = append(pieces, pieceOf(verdictInk(c.Verdict), Glyph(c.Verdict)+" "+c.Property.ID))
		}
		b.flow(append(pieces, pieceOf(dim, sc.Setting.String())), "  ", "      ")
		if sc.Summary != "" && len(list) <= maxSummaries {
			b.lines(4, dim, wrap(sc.Summary, s.width()-6))
		}
	}
	if len(list) > maxSummaries {
		b.line("")
		b.lines(0, dim, wrap(fmt.Sprintf("%d scenarios. A list of up to %d says what each does: choose by name, or by "+
			"--shape, --hazard, --project, --property, --verdict.", len(list), maxSummaries), s.width()))
	}
	return b.w.Flush()
}

// rowName is an id without its system.
func rowName(sc *scenarios.Scenario) string { return Visible(sc.Variant() + "/" + sc.SettingName()) }

// Glyph is a verdict as one character.
func Glyph(v checker.Verdict) string {
	return [...]string{checker.Unknown: "?", checker.Holds: "✓", checker.Broken: "✗"}[v]
}

func verdictInk(v checker.Verdict) ink {
	return [...]ink{checker.Unknown: warn, checker.Holds: good, checker.Broken: bad}[v]
}
