package site

import (
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

func TestPagesAreAsTheyWere(t *testing.T) {
	site := written(t, results(t), report.Options{Flags: "--crashes 1"})
	golden.Check(t, "index.html", bodyOf(site["index.html"]))
	golden.Check(t, "look.html", bodyOf(site["scenarios/toy.look.contend.html"]))
	golden.Check(t, "crash.html", bodyOf(site["scenarios/toy.excl.crash.html"]))
}

// Two runs give the same bytes.
func TestEqualResultsGiveEqualBytes(t *testing.T) {
	testmain.Slow(t, "it writes the same pages twice", "./checker/report/site")
	first := written(t, results(t), report.Options{})
	again, err := decide(toys.All(), checker.Options{Workers: 2})
	require.NoError(t, err)
	for range 5 {
		require.Equal(t, first, written(t, again, report.Options{}))
	}
}

// A signal is told as one, and no lane stands for a handler that never ran.
func TestPageOfASignal(t *testing.T) {
	setting, lock := scenarios.Setting{Processes: 3, Handlers: []int{0, 1, 2}, Signals: 1}, fixtures.Excl()
	sc := fixtures.New("toy/trap-first/signal", lock, setting,
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: checker.Broken})
	sc.Program = func(process, task int) scenarios.Program {
		if setting.IsHandler(process, task) {
			return func(t *scenarios.Task) { t.Leave(fixtures.Lock, func() { _ = t.Unlink(fixtures.Lock) }) }
		}
		return scenarios.Once(lock)
	}
	r, err := checker.Check(t.Context(), sc, scenarios.MutualExclusion, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	page := written(t, []checker.Result{r}, report.Options{})["scenarios/toy.trap-first.signal.html"]
	require.Contains(t, page, `<span class="tag t-fault">signal</span>`)
	require.NotContains(t, page, ">crash</span>")
	require.Contains(t, page, `data-lane="B.2"`)
	require.NotContains(t, page, `data-lane="C.2"`)
}

// Every page stands alone: nothing is fetched from anywhere, every link leads to a file
// or an anchor that is there.
func TestPagesStandAlone(t *testing.T) {
	checkLinks(t, written(t, results(t), report.Options{}))
}

var (
	links = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
	// policy is the content security policy, and fetches what a style may load.
	policy  = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src (&#39;|')none`)
	fetches = regexp.MustCompile(`@import|url\(`)
)

func checkLinks(t *testing.T, site map[string]string) {
	t.Helper()
	anchors := map[string]map[string]bool{}
	for name, page := range site {
		anchors[name] = map[string]bool{"": true}
		for _, m := range ids.FindAllStringSubmatch(page, -1) {
			require.False(t, anchors[name][m[1]], "%s: the id %q is there twice", name, m[1])
			anchors[name][m[1]] = true
		}
	}
	for name, page := range site {
		require.True(t, policy.MatchString(page), "%s has no policy", name)
		require.False(t, fetches.MatchString(page), "%s fetches something", name)
		for _, m := range links.FindAllStringSubmatch(bodyOf(page), -1) {
			link := strings.ReplaceAll(m[1], "&#43;", "+")
			if strings.HasPrefix(link, "https://") {
				require.NotContains(t, m[0], "src=", name)
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			_, there := site[target]
			require.True(t, there, "%s links to %s", name, link)
			require.True(t, anchors[target][anchor], "%s links to %s", name, link)
		}
	}
}

// Whatever a scenario's author writes stays text.
func TestTextIsEscaped(t *testing.T) {
	r := *resultOf(t, "toy/look/contend", scenarios.MutualExclusion)
	sc := *r.Scenario
	hostile := `</code></title><script>alert("x")</script><img src=x onerror=alert(1)>`
	sc.ID, sc.Summary, sc.Source, sc.Report = `toy/../<b onclick="x">&/#?`, hostile, "package x // "+hostile+"\nvar s = `"+hostile+"`", "javascript:alert(1)"
	r.Scenario = &sc
	cx := *r.Counterexample
	cx.Cause = hostile
	r.Counterexample = &cx
	site := written(t, []checker.Result{r}, report.Options{Flags: hostile})
	require.Len(t, site, 2)
	for name, page := range site {
		for _, alive := range []string{"<script>alert", "<img", "<b onclick", `href="javascript:`} {
			require.False(t, strings.Contains(page, alive), "%s contains %s", name, alive)
		}
	}
}

// A page shows the table of ends, as text.
func TestPageShowsTheEnds(t *testing.T) {
	r := *resultOf(t, "toy/look/contend", scenarios.MutualExclusion)
	cx, p := *r.Counterexample, *r.Property
	p.ID = "ends"
	p.Table = func(scenarios.View) [][]string {
		return [][]string{{"", "here", "A then B"}, {"<n>", strings.Repeat("long ", 100), `"2"`}}
	}
	cx.Property, r.Property, r.Counterexample = &p, &p, &cx
	page := written(t, []checker.Result{r}, report.Options{})["scenarios/toy.look.contend.html"]
	require.Contains(t, page, `<th scope="col">here</th><th scope="col">A then B</th>`)
	require.Contains(t, page, `<th scope="row">&lt;n&gt;</th><td>long long`)
	require.Contains(t, page, `…</td><td>&#34;2&#34;</td>`)
}

func TestDifferentIDsHaveDifferentPages(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"a/b/c", "a/b.c/d", "a/b/c.d", "a/b_2e_c/d", "a/b/ü", "a/b/_fc_", "../../x", "a/b/c d", "a/b/tasks+peer"} {
		f := fileOf(id)
		require.Regexp(t, `^[A-Za-z0-9._+-]+\.html$`, f)
		require.Equal(t, f, path.Base(f))
		require.Empty(t, seen[f], id)
		seen[f] = id
	}
	require.Equal(t, "ctx.stat-then-write.contend.html", fileOf("ctx/stat-then-write/contend"))
}

func TestWriteReportsWhatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.Error(t, Write(file, results(t), report.Options{}))
}

// Without any result there is still a first page.
func TestNoResults(t *testing.T) {
	site := written(t, nil, report.Options{})
	require.Len(t, site, 1)
	require.Contains(t, site["index.html"], "How to read it")
}

// The source is shown as it is, whether it is Go or not.
func TestHighlightKeepsTheText(t *testing.T) {
	tags := regexp.MustCompile(`</?span[^>]*>`)
	for _, src := range []string{
		"", "package a\n\n// <b> & \"c\"\nfunc f() string { return \"<i>\" + `raw\n` }\n", "this is not Go: 'tis <b>",
		"x := \"unfinished", "\xff\xfe", "/* open", "a\r\nb `x\r\ny`\r\n",
	} {
		got := tags.ReplaceAllString(string(highlight(src)), "")
		require.Equal(t, template.HTMLEscapeString(src), got)
	}
	require.Contains(t, string(highlight("func f() {} // note")), `<span class="k">func</span> f() {} <span class="c">// note</span>`)
}
