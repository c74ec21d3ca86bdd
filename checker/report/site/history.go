package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/trace"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A history is a counterexample's history as porcupine draws it, on a page of its own.
type history struct {
	File string // relative to the directory of index.html
	// Short is the name relative to the scenario's page.
	Short string
	// Clients says whose operations the numbered rows are.
	Clients string
	// Size is the class of the frame's height.
	Size string
	page []byte
}

// newHistory draws the history of a counterexample; it is nil for a property that no
// history decides.
func newHistory(w *row, cx *trace.Counterexample) (*history, error) {
	spec := &cx.Property.Spec
	if cx.Property.Judgement() != scenarios.ByHistory {
		return nil, nil
	}
	var ops []porcupine.Operation
	for _, op := range cx.History {
		if spec.Accepts(op.Input) {
			ops = append(ops, op)
		}
	}
	model := spec.Porcupine()
	_, info := porcupine.CheckOperationsVerbose(model, ops, 0)
	info.AddAnnotations(annotations(cx))
	var b bytes.Buffer
	if err := porcupine.Visualize(model, info, &b); err != nil {
		return nil, fmt.Errorf("site: the history of %s: %w", w.Scenario.ID, err)
	}
	page, err := settle(b.Bytes(), w.Scenario.ID+" · "+cx.Property.ID)
	if err != nil {
		return nil, fmt.Errorf("site: the history of %s: %w", w.Scenario.ID, err)
	}
	short := strings.TrimSuffix(fileOf(w.Scenario.ID), ".html") + "." + cx.Property.ID + ".history.html"
	h := &history{File: "scenarios/" + short, Short: short, page: page}
	h.Clients, h.Size = clients(w, cx, ops)
	return h, nil
}

// annotations mark kills, stalls and the step at which no order is left.
func annotations(cx *trace.Counterexample) []porcupine.Annotation {
	var out []porcupine.Annotation
	mark := func(tag, text string, i int, color string) {
		at := trace.TimestampOf(i + 1)
		out = append(out, porcupine.Annotation{Tag: tag, Start: at, End: at + 1, Description: text, BackgroundColor: color})
	}
	for i, c := range cx.Schedule {
		switch c.Action {
		case sched.Kill:
			mark("faults", fmt.Sprintf("step %d: %s killed", i+1, c), i, "#f6d5a8")
		case sched.PowerLoss:
			mark("faults", fmt.Sprintf("step %d: the power is lost", i+1), i, "#f6d5a8")
		case sched.Signal:
			mark("faults", fmt.Sprintf("step %d: %s gets a signal", i+1, c.Task), i, "#f6d5a8")
		case sched.Stall:
			mark("faults", fmt.Sprintf("step %d: the clock jumps", i+1), i, "#f6d5a8")
		case sched.Run:
			if c.Fails != "" {
				mark("faults", fmt.Sprintf("step %d: the call of %s fails with %s", i+1, c.Task, c.Fails), i, "#f6d5a8")
			}
		}
	}
	mark("verdict", fmt.Sprintf("step %d: no order is left", len(cx.Schedule)), len(cx.Schedule)-1, "#f4b8b0")
	return out
}

// clients says whose operations the rows of the drawing are, and how high it is.
func clients(w *row, cx *trace.Counterexample, ops []porcupine.Operation) (text, size string) {
	var names []string
	n := 0
	last := 0
	for i, k := range w.Scenario.Setting.EachTask() {
		names = append(names, fmt.Sprintf("%d is %s", n, sched.Task{Process: i, N: k}))
		n++
	}
	for _, op := range ops {
		last = max(last, op.ClientId)
	}
	if last >= n {
		names = append(names, fmt.Sprintf("%d and up are deaths", n))
	}
	rows := last + 2 // and one for the verdict
	if cx.Cost.Faults() > 0 {
		rows++
	}
	return numbers.List(names), fmt.Sprintf("rows-%d", min(rows, 8))
}

// The data of porcupine's page, as far as it must be settled.
type (
	drawing struct {
		Partitions  []partition
		Annotations json.RawMessage
	}
	partition struct {
		History               []element
		PartialLinearizations [][]linearized
		Largest               map[int]int
	}
	element struct {
		ClientId              int
		Start                 int
		OriginalStart         string
		End                   int
		OriginalEnd           string
		Description, Metadata string
	}
	linearized struct {
		Index            int
		StateDescription string
	}
)

// settle makes porcupine's page the same in every run, puts step numbers for time
// stamps, and adds a title and a policy. Porcupine lists partial linearizations in the order
// of a Go map.
func settle(page []byte, title string) ([]byte, error) {
	m := regexp.MustCompile(`(?s)^(.*const data = )(\{.*?\})(\s*)render\(data\)(.*)$`).FindSubmatch(page)
	if m == nil {
		return nil, fmt.Errorf("porcupine's page has another form than that of v1.3")
	}
	var d drawing
	if err := json.Unmarshal(m[2], &d); err != nil {
		return nil, err
	}
	for i := range d.Partitions {
		d.Partitions[i].settle()
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	// A frame out of sight is not laid out, and then every text measures nothing: draw
	// when there is something to see.
	out := slices.Concat(m[1], data, m[3], []byte("requestAnimationFrame(() => render(data))"), m[4])
	script, found := between(out, "<script>", "</script>")
	if !found {
		return nil, fmt.Errorf("porcupine's page has no script")
	}
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src " + digest(script)
	head := `<meta http-equiv="Content-Security-Policy" content="` + policy + `" />` +
		"\n    <title>" + html.EscapeString(title) + "</title>"
	style := "<style>" + asset("history.css") + "</style>\n  </head>"
	out = bytes.Replace(out, []byte("<title>Porcupine</title>"), []byte(head), 1)
	// For readers of screens: a heading, which is not seen, and a landmark.
	out = bytes.Replace(out, []byte(`<div id="canvas"></div>`),
		[]byte("<h1>"+html.EscapeString(title)+"</h1>\n    "+`<main id="canvas"></main>`), 1)
	return bytes.Replace(out, []byte("</head>"), []byte(style), 1), nil
}

func between(text []byte, from, to string) (string, bool) {
	_, rest, ok1 := strings.Cut(string(text), from)
	inner, _, ok2 := strings.Cut(rest, to)
	return inner, ok1 && ok2
}

func (p *partition) settle() {
	for i := range p.History {
		e := &p.History[i]
		e.OriginalStart, e.OriginalEnd = stepText(e.OriginalStart), stepText(e.OriginalEnd)
	}
	slices.SortFunc(p.PartialLinearizations, func(a, b []linearized) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return slices.CompareFunc(a, b, func(x, y linearized) int { return cmp.Compare(x.Index, y.Index) })
	})
	p.Largest = map[int]int{}
	for i, l := range p.PartialLinearizations {
		for _, x := range l {
			if _, ok := p.Largest[x.Index]; !ok {
				p.Largest[x.Index] = i
			}
		}
	}
}

func stepText(stamp string) string {
	var n int64
	if _, err := fmt.Sscan(stamp, &n); err != nil {
		return stamp
	}
	if s := trace.StepOf(n); s > 0 {
		return fmt.Sprintf("step %d", s)
	}
	return "never"
}
