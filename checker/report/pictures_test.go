package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// validMermaid checks the part of Mermaid's grammar that is emitted here: the lines of a
// sequence diagram, participants declared before they are used, bars that end only
// where one began, loops that end, and no sign in a text that would end it.
func validMermaid(diagram string) error {
	lines := strings.Split(strings.TrimRight(diagram, "\n"), "\n")
	if lines[0] != "sequenceDiagram" {
		return fmt.Errorf("the first line is %q", lines[0])
	}
	var (
		participant = regexp.MustCompile(`^participant (\w+) as (.+)$`)
		message     = regexp.MustCompile(`^(\w+)(?:->>|-x)(\w+): (.+)$`)
		note        = regexp.MustCompile(`^Note (?:over|right of) (\w+)(?:,(\w+))?: (.+)$`)
		bar         = regexp.MustCompile(`^(activate|deactivate) (\w+)$`)
		entity      = regexp.MustCompile(`#(\d+|[a-z]+);`)
	)
	var known []string
	active := map[string]bool{}
	loops := 0
	for _, l := range lines[1:] {
		l, indented := strings.CutPrefix(l, "    ")
		if !indented {
			return fmt.Errorf("not indented: %q", l)
		}
		var who []string
		words := ""
		if m := participant.FindStringSubmatch(l); m != nil {
			known, words = append(known, m[1]), m[2]
		} else if m := message.FindStringSubmatch(l); m != nil {
			who, words = m[1:3], m[3]
		} else if m := note.FindStringSubmatch(l); m != nil {
			who, words = m[1:3], m[3]
		} else if m := bar.FindStringSubmatch(l); m != nil {
			who = m[2:]
			if active[m[2]] == (m[1] == "activate") {
				return fmt.Errorf("%q: it is so already", l)
			}
			active[m[2]] = m[1] == "activate"
		} else if l == "loop for ever" || strings.HasPrefix(l, "rect rgba(") {
			loops++
		} else if l == "end" && loops > 0 {
			loops--
		} else {
			return fmt.Errorf("no such line: %q", l)
		}
		for _, w := range who {
			if w != "" && !slices.Contains(known, w) {
				return fmt.Errorf("%q: no participant %s", l, w)
			}
		}
		words = strings.ReplaceAll(words, "<br/>", " ") // the lines of a note
		if rest := entity.ReplaceAllString(words, ""); strings.ContainsAny(rest, "#;<>\\`") || strings.Contains(rest, "%%") {
			return fmt.Errorf("not escaped: %q", l)
		}
	}
	if loops != 0 {
		return fmt.Errorf("a loop has no end")
	}
	for _, who := range known {
		if active[who] {
			return fmt.Errorf("the bar of %s has no end: it would not be drawn", who)
		}
	}
	return nil
}

func TestMermaidIsValid(t *testing.T) {
	rs := results(t)
	for _, x := range exhibits() {
		rs = append(rs, exhibit(t, x.id, x.property))
	}
	n := 0
	for i := range rs {
		if rs[i].Counterexample == nil {
			require.Error(t, Mermaid(io.Discard, &rs[i], Options{}))
			continue
		}
		n++
		got := text(t, func(b *bytes.Buffer) error { return Mermaid(b, &rs[i], Options{}) })
		require.NoError(t, validMermaid(got), got)
	}
	require.Greater(t, n, 5)
	require.Equal(t, "a#59;b #35;1 #lt;b#gt; #92;n %#37;", mermaidText("a;b #1 <b> \\n %%"))
}

func TestMermaidRulesHaveTeeth(t *testing.T) {
	for _, bad := range []string{
		"graph TD\n", "sequenceDiagram\n    A->>B: x\n", "sequenceDiagram\n    participant A as A\n    deactivate A\n",
		"sequenceDiagram\n    participant A as A\n    A->>A: a;b\n", "sequenceDiagram\n    participant A as A\n    loop for ever\n",
		"sequenceDiagram\n    participant A as A\n    A=>A: x\n", "sequenceDiagram\n    participant A as #1\n",
	} {
		require.Error(t, validMermaid(bad), bad)
	}
}

// A starvation has a loop.
func TestMermaidLoop(t *testing.T) {
	r := exhibit(t, "ctx/stat-then-write/contend", scenarios.MutualExclusion)
	r.Counterexample.Cycle = 3
	got := text(t, func(b *bytes.Buffer) error { return Mermaid(b, &r, Options{}) })
	require.NoError(t, validMermaid(got))
	require.Contains(t, got, "loop for ever")
}

// Every picture is well-formed XML, of elements that need nothing from outside, and no
// text leaves it.
func TestSVGIsValid(t *testing.T) {
	rs := results(t)
	for _, x := range exhibits() {
		rs = append(rs, exhibit(t, x.id, x.property))
	}
	for i := range rs {
		if rs[i].Counterexample == nil {
			require.Error(t, SVG(io.Discard, &rs[i], Options{}))
			continue
		}
		got := text(t, func(b *bytes.Buffer) error { return SVG(b, &rs[i], Options{}) })
		require.NoError(t, validSVG(got), rs[i].Scenario.ID)
		require.Contains(t, got, fmt.Sprintf(`font-size="%d"`, svgFont))
	}
}

func validSVG(picture string) error {
	d := xml.NewDecoder(strings.NewReader(picture))
	var width, height, x, y, font float64
	number := func(s string) (n float64) { _, _ = fmt.Sscan(s, &n); return n }
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "title", "desc", "rect", "line", "text"}, e.Name.Local) {
				return fmt.Errorf("element %s", e.Name.Local)
			}
			x, font = 0, svgFont
			for _, a := range e.Attr {
				switch {
				case e.Name.Local == "svg" && a.Name.Local == "width":
					width = number(a.Value)
				case e.Name.Local == "svg" && a.Name.Local == "height":
					height = number(a.Value)
				case e.Name.Local == "text" && a.Name.Local == "x":
					x = number(a.Value)
				case e.Name.Local == "text" && a.Name.Local == "y":
					y = number(a.Value)
				case a.Name.Local == "font-size":
					font = number(a.Value)
				}
			}
		case xml.CharData:
			if x > 0 && strings.TrimSpace(string(e)) != "" && (x+float64(columns(string(e)))*font*0.602 > width || y > height) {
				return fmt.Errorf("%q leaves the picture: %.0f of %.0f, %.0f of %.0f", e, x, width, y, height)
			}
		case xml.EndElement:
			x = 0
		}
	}
}

// Rows of a kill, a stall and a cycle are marked.
func TestSVGMarks(t *testing.T) {
	r := exhibit(t, "ctx/excl/crash", scenarios.Wedge)
	require.Contains(t, text(t, func(b *bytes.Buffer) error { return SVG(b, &r, Options{}) }), "killed (SIGKILL)")
	stall := result(t, "toy/lease/stall", scenarios.MutualExclusion)
	require.Contains(t, text(t, func(b *bytes.Buffer) error { return SVG(b, stall, Options{}) }), "the clock jumps")
	r.Counterexample.Cycle = 2
	require.Contains(t, text(t, func(b *bytes.Buffer) error { return SVG(b, &r, Options{}) }), markCycle)
	var none checker.Result
	none.Scenario = r.Scenario
	require.ErrorContains(t, SVG(io.Discard, &none, Options{}), "no counterexample")
}
