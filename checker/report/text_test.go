package report

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Whatever is said fits into the columns there are.
func TestLinesFit(t *testing.T) {
	long := strings.Repeat("a long word ", 20) + strings.Repeat("x", 50)
	s := Style{Width: 60}
	for _, lines := range [][]string{
		s.Lines(long), JoinWrapped([]string{"1 step", long, "2 steps"}, 60),
		s.flow([]piece{pieceOf(plain, "name"), pieceOf(dim, long)}, "  ", "    ", 60),
	} {
		require.Greater(t, len(lines), 3)
		for _, l := range lines {
			require.LessOrEqual(t, columns(l), 60, l)
		}
		require.Equal(t, 20, strings.Count(strings.Join(lines, "\n"), "long"), "nothing is lost")
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"lock":                "lock",
		"übung 日本 ✗ ┃":        "übung 日本 ✗ ┃",
		"a\x1b[31mred":        `a\x1b[31mred`,
		"a\nb\tc\r":           `a\nb\tc\r`,
		"\x00\x7f\u0085":      `\x00\x7f\u0085`,
		"evil\u202etxt.exe":   `evil\u202etxt.exe`,
		"zero\u200bwidth":     `zero\u200bwidth`,
		"\xff\xfe":            `\xff\xfe`,
		"e\u0301":             "e\u0301",
		"back\\slash \"quote": "back\\slash \"quote",
	} {
		require.Equal(t, want, Visible(text))
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[0m\xff\u202e日")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		require.True(t, utf8.ValidString(got))
		for _, r := range got {
			require.True(t, unicode.IsGraphic(r), "%q", r)
		}
		require.Equal(t, got, Visible(got))
		require.LessOrEqual(t, columns(Clip(got, 10)), max(10, 0))
	})
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "lock": 4, "ü✗┃": 3, "日本": 4, "e\u0301": 1, "🔒": 2} {
		require.Equal(t, want, columns(text), text)
	}
	require.Equal(t, "日…", Clip("日本語", 4))
	require.Equal(t, "日本語", Clip("日本語", 6))
	require.Equal(t, "日本  ", pad("日本", 6))
	l := (&line{}).put(0, plain, "日本").put(6, plain, "e\u0301x").put(2, plain, "a")
	require.Equal(t, "日a   e\u0301x", l.render(Style{}, 80))
	require.Equal(t, 4, columns((&line{}).put(0, plain, "日本語日本語").render(Style{}, 4)))
}

// hostile is a broken lock whose names, contents and summary would play with a terminal:
// colours, a moving cursor, text from right to left, a name of several lines, wide letters.
func hostile() scenarios.Scenario {
	sc := toys.All()[0]
	name := "/run/\x1b[2J\u202elo\nck\xff日本"
	lock := scenarios.Protocol{
		Path: name,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if _, err := t.Stat(name); err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			return scenarios.Hold{}, t.WriteFile(name, []byte("\x1b]0;title\a\x00"+t.Process), 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(name) },
	}
	sc.ID = "to\x1b[5my/lo\rok/con\u202etend"
	sc.Summary = "A \x1b[8mhidden\x1b[0m word,\nand a \u202eright-to-left one."
	sc.Watch = []string{name}
	sc.Program = func(int, int) scenarios.Program { return scenarios.Once(lock) }
	sc.Setup = func(m *fsfake.Machine) {
		if err := m.Proc(1).Mkdir("/run", 0o755); err != nil {
			panic(err)
		}
	}
	return sc
}

// Whatever names, contents and summaries have in them, what is written for people has
// letters and line breaks, and with colours only the codes of those.
func TestHostileNames(t *testing.T) {
	sc := hostile()
	r, err := checker.Check(context.Background(), &sc, scenarios.MutualExclusion, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	unknown := checker.NewResult(&sc, scenarios.MutualExclusion, nil)
	unknown.Why = "the program said \x1b[31m\r\n"
	wrong := r
	wrong.Claim = checker.Holds
	run, err := checker.Replay(&sc, scenarios.MutualExclusion, r.Counterexample.Schedule[:3])
	require.NoError(t, err)
	for name, write := range map[string]func(b *bytes.Buffer, o Options) error{
		"timeline": func(b *bytes.Buffer, o Options) error { return Timeline(b, &r, o) },
		"unknown":  func(b *bytes.Buffer, o Options) error { return Timeline(b, &unknown, o) },
		"matrix":   func(b *bytes.Buffer, o Options) error { return Matrix(b, []checker.Result{r, wrong, unknown}, o) },
		"list":     func(b *bytes.Buffer, o Options) error { return List(b, []scenarios.Scenario{sc}, o.Style) },
		"evidence": func(b *bytes.Buffer, o Options) error { b.WriteString(Evidence(&r, o)); return nil },
		"not broken": func(b *bytes.Buffer, o Options) error {
			return NotBroken(b, RunEnd{Scenario: &sc, Properties: []*scenarios.Property{scenarios.MutualExclusion}, Run: run.Counterexample, Checked: &r}, o)
		},
		"sample": func(b *bytes.Buffer, o Options) error {
			return SampleText(b, &checker.Sampled{Result: r}, checker.SampleOptions{}, o)
		},
	} {
		for _, o := range []Options{{}, {Style: Style{Width: 60}}, {Style: Style{Color: true}, Verbose: true},
			{Quiet: true}} {
			var b bytes.Buffer
			require.NoError(t, write(&b, o), name)
			shown := b.String()
			if o.Color {
				shown = uncolored(shown)
			}
			require.True(t, utf8.ValidString(shown), name)
			for _, r := range shown {
				require.True(t, r == '\n' || unicode.IsGraphic(r), "%s: %q in\n%q", name, r, shown)
			}
			for _, l := range strings.Split(shown, "\n") {
				if !strings.Contains(l, " replay ") {
					require.LessOrEqual(t, columns(l), o.width(), l)
				}
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, Timeline(&b, &r, Options{}))
	require.Contains(t, b.String(), `stat \x1b[2J\u202elo\nck\xff日本`)
	require.Contains(t, b.String(), `to\x1b[5my/lo\rok/con\u202etend  BROKEN`)
	require.Contains(t, b.String(), `replay  lockpick replay $'to\x1b[5my/lo\x0dok/con\xe2\x80\xaetend' 'A1 B4 A3'`)
	require.Equal(t, `'a'\''b'`, ShellWord("a'b"))
	require.Equal(t, `$'a\'\\\x0a'`, ShellWord("a'\\\n"))
}

// uncolored takes the codes of colours away that reports use.
func uncolored(text string) string {
	for _, i := range append([]ink{"0", bold, dim, bad, good, warn, accent}, laneInks[:]...) {
		text = strings.NewReplacer("\x1b["+string(i)+"m", "", "\x1b["+string(i)+";1m", "").Replace(text)
	}
	return text
}

// Lists and matrices fit the width that there is, from 60 columns on.
func TestTextFits(t *testing.T) {
	rs := results(t)
	long := *rs[0].Scenario
	long.ID = "toy/a-variant-with-a-name-that-says/everything+at+once"
	long.Setting.Crashes, long.Setting.Stalls = 3, 2
	r := rs[0]
	r.Scenario, r.Claim = &long, checker.Holds
	rs = append(rs, r)
	for _, width := range []int{60, 80, 100, 120, 200} {
		for _, o := range []Options{{}, {Verbose: true, Timings: true,
			Flags: "--procs 3 --crashes 2 --stalls 1 --stall-for 48h"}} {
			o.Width = width
			var b bytes.Buffer
			require.NoError(t, Matrix(&b, rs, o))
			require.NoError(t, List(&b, toys.All(), o.Style))
			for _, l := range strings.Split(b.String(), "\n") {
				require.LessOrEqual(t, columns(l), width, l)
			}
			if os.Getenv("SHOW") != "" {
				t.Log("\n" + b.String())
			}
		}
	}
}

func TestOddsText(t *testing.T) {
	for p, want := range map[float64]string{
		-1: "", 0: "", 0.37: "37 % of random runs", 1: "100 % of random runs", 0.05: "1 random run in 20",
		1.0 / 123456: "1 random run in 123 456", 1e-12: "1 random run in 1e+12",
	} {
		require.Equal(t, want, OddsText(p))
	}
}

// Code in a text of our own is code in Markdown, and what looks like markup beside it is not.
func TestMarkdownProse(t *testing.T) {
	require.Equal(t, "Use `set -C` \\_here\\_, and `*`", markdownProse("Use `set -C` _here_, and `*`"))
}
