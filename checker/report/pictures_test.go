package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

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
			if x = 0; e.Name.Local == "svg" && width*9 != height*16 {
				return fmt.Errorf("%.0f by %.0f does not fill a slide", width, height)
			}
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
