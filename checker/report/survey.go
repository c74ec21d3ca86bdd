package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A SurveyTable writes what a survey of a protocol finds out, line by line: one for each hazard, and then the
// commands that replay what is broken.
type SurveyTable struct {
	b      sheet
	o      Options
	width  int
	replay []string
}

// NewSurveyTable begins a table with the protocol's id. The hazards are those that lines come for.
func NewSurveyTable(w io.Writer, subject string, hazards []scenarios.Hazard, o Options) *SurveyTable {
	t := &SurveyTable{b: newSheet(w, o), o: o}
	for _, h := range hazards {
		t.width = max(t.width, columns(h.ID))
	}
	t.b.line(o.paint(bold, Visible(subject)))
	return t
}

// Add writes the lines about one hazard at once.
func (t *SurveyTable) Add(l *checker.Surveyed) error {
	for j, p := range surveyPieces(l) {
		name := ""
		if j == 0 {
			name = l.Hazard.ID
		}
		t.b.flow(append([]piece{pieceOf(plain, "  "+pad(name, t.width))}, p...), "  ", strings.Repeat(" ", t.width+4))
	}
	for j := range l.Broken {
		t.replay = append(t.replay, ReplayCommand(&l.Broken[j], t.o))
	}
	return t.b.w.Flush()
}

// End writes the commands that replay what is broken.
func (t *SurveyTable) End() error {
	if len(t.replay) > 0 {
		t.b.line("")
	}
	for _, command := range t.replay {
		t.b.line("  replay  " + t.o.paint(dim, command))
	}
	return t.b.w.Flush()
}

// surveyPieces are the lines about one hazard.
func surveyPieces(l *checker.Surveyed) [][]piece {
	if l.NotAsked != "" {
		return [][]piece{{pieceOf(dim, "· not asked: "+l.NotAsked)}}
	}
	var out [][]piece
	for i := range l.Broken {
		r := &l.Broken[i]
		verdict, but := pieceOf(bad, "✗ broken"), r.Conditions()
		if r.Accepted != "" {
			verdict = pieceOf(warn, "✗ broken, accepted: "+r.Accepted)
			but = append(but, "other causes were not looked for there")
		}
		out = append(out, []piece{
			verdict, pieceOf(plain, r.Property.ID), pieceOf(plain, r.Counterexample.Schedule.String()),
			pieceOf(dim, strings.Join(append([]string{onFileSystem(r) + lowerFirst(r.Scenario.Summary) + lostFile(r)},
				but...), "; ")),
		})
	}
	switch {
	case l.Failed():
	case len(l.Unknown) > 0:
		r := &l.Unknown[0]
		out = append(out, []piece{pieceOf(warn, "? unknown"), pieceOf(plain, r.Property.ID), pieceOf(dim, Visible(oneLine(r.Scenario.SettingName()+": "+r.Why)))})
	case len(held(l)) > 0:
		out = append(out, []piece{pieceOf(good, "✓ holds "), pieceOf(plain, strings.Join(held(l), ", ")), pieceOf(dim, bounds(l))})
	}
	return out
}

// lostFile is what is said of a file by its name, to stand behind what it is about.
func lostFile(r *checker.Result) string {
	said := r.Counterexample.Said
	if name, _, _ := strings.Cut(said, " "); !strings.HasSuffix(name, ":") {
		return ""
	}
	return "; " + Visible(said)
}

// onFileSystem says where a result is of, to stand before what it is about.
func onFileSystem(r *checker.Result) string {
	if name := r.Scenario.FileSystem(); name != "" {
		return "on " + name + ": "
	}
	return ""
}

// held lists the properties that hold, each once.
func held(l *checker.Surveyed) []string {
	var out []string
	for i := range l.Holds {
		if id := l.Holds[i].Property.ID; !l.Accepts(id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// bounds tells the settings of what holds, each once.
func bounds(l *checker.Surveyed) string {
	var out []string
	var seen []string
	for i := range l.Holds {
		sc := l.Holds[i].Scenario
		if text := sc.Setting.String(); l.On == nil && !slices.Contains(out, text) {
			out = append(out, text)
		}
		if !slices.Contains(seen, sc.ID) {
			seen = append(seen, sc.ID)
		}
	}
	if l.On != nil {
		out = []string{"what holds elsewhere, on each of " + strings.Join(l.On, ", ")}
	}
	text := strings.Join(out, "; ")
	if n := len(seen); n > 1 {
		text += fmt.Sprintf(" (%d situations)", n)
	}
	return text
}

// lowerFirst makes a sentence a part of a line.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + strings.TrimSuffix(s[1:], ".")
}
