package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

const lockName = "/tmp/app.lock"

// careless looks, and then takes the lock: the two calls are not one.
func careless(t *scenarios.Task) (scenarios.Hold, error) {
	if _, err := t.Stat(lockName); err == nil {
		return scenarios.Hold{}, scenarios.ErrLocked
	}
	f, err := t.Create(lockName) // it went wrong here
	if err != nil {
		return scenarios.Hold{}, err
	}
	return scenarios.Hold{}, f.Close()
}

func carelessLock(t *testing.T) (r checker.Result, root string, line int) {
	t.Helper()
	lock := scenarios.Protocol{
		Path: lockName, Acquire: careless,
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lockName) },
	}
	sc := scenarios.Scenario{
		ID: "my/lock/contend", Watch: []string{lockName},
		Setting: scenarios.Setting{Processes: 2},
		Program: func(_, _ int) scenarios.Program { return scenarios.Once(lock) },
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}},
	}
	r, err := checker.Check(context.Background(), &sc, scenarios.MutualExclusion, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	root, err = os.Getwd()
	require.NoError(t, err)
	text, err := os.ReadFile("source_test.go")
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), "// it went wrong here")
	require.True(t, found)
	return r, root, 1 + strings.Count(before, "\n")
}

// Every call has its line: the caller's, not that of what carries it to the machine.
func TestSource(t *testing.T) {
	r, root, line := carelessLock(t)
	for _, st := range r.Counterexample.Trace {
		for _, c := range st.Calls {
			require.Equal(t, filepath.Join(root, "source_test.go"), c.Source.File, c.Op)
			require.Contains(t, c.Source.Func, "report.careless")
		}
	}
	at := Culprit(r.Counterexample)
	require.NotNil(t, at)
	require.Equal(t, line, sourceOf(at).Line, r.Counterexample.Cause)

	where := fmt.Sprintf("source_test.go:%d", line)
	o := Options{Root: root, Places: true, Style: Style{Source: true}}
	shown := text(t, func(b *bytes.Buffer) error { return Timeline(b, &r, o) })
	require.Contains(t, shown, fmt.Sprintf("\n  source  %s: step %d, ", where, at.N))
	require.Contains(t, shown, fmt.Sprintf("  %d %s  ", at.N, where), "beside the step")
	for _, l := range strings.Split(shown, "\n") {
		if !strings.Contains(l, " replay ") {
			require.LessOrEqual(t, columns(l), 100, l)
		}
	}
	require.Contains(t, Evidence(&r, Options{Root: root, Places: true}), "\n  source  "+where)
	require.NotContains(t, text(t, func(b *bytes.Buffer) error { return Timeline(b, &r, Options{Root: root}) }), where)

	annotated := text(t, func(b *bytes.Buffer) error { return GitHub(b, []checker.Result{r}, Options{Root: filepath.Dir(root)}) })
	require.True(t, strings.HasPrefix(annotated, fmt.Sprintf("::error file=report/source_test.go,line=%d,title=", line)), annotated)
}

// Where nobody knows where the wrong call stands, no other line went wrong.
func TestUnknownPlace(t *testing.T) {
	r, root, _ := carelessLock(t)
	o := Options{Root: root}
	require.Contains(t, Places(&r, o)[0], " ← this one went wrong")
	Culprit(r.Counterexample).Calls[0].Source = scenarios.Source{}
	require.NotEmpty(t, Places(&r, o))
	require.NotContains(t, strings.Join(Places(&r, o), "\n"), "went wrong")
}

// What a real kernel made of a counterexample is in every picture of it.
func TestKernelIsTold(t *testing.T) {
	r, _, _ := carelessLock(t)
	r.Counterexample.Kernel = "breaks on this kernel too, 20 of 20"
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"timeline": func(b *bytes.Buffer) error { return Timeline(b, &r, Options{}) },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, []checker.Result{r}, Options{}) },
		"json":     func(b *bytes.Buffer) error { return JSON(b, []checker.Result{r}, Options{}) },
	} {
		require.Contains(t, text(t, write), "breaks on this kernel too, 20 of 20", name)
	}
}

// SARIF opens at the line, and its flow goes through the source.
func TestSourceInSARIF(t *testing.T) {
	r, root, line := carelessLock(t)
	var log sarifLog
	out := text(t, func(b *bytes.Buffer) error { return SARIF(b, []checker.Result{r}, Options{Root: filepath.Dir(root)}) })
	require.NoError(t, json.Unmarshal([]byte(out), &log))
	var doc any
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	require.NoError(t, sarifSchemaOf(t).Validate(doc))
	want := sarifPhysical{sarifArtifact{"report/source_test.go"}, &sarifRegion{line}}
	got := log.Runs[0].Results[0]
	require.Equal(t, want, *got.Locations[0].Physical)
	for _, f := range got.CodeFlows[0].ThreadFlows {
		for _, l := range f.Locations {
			require.Equal(t, want.Artifact, l.Location.Physical.Artifact)
			require.Positive(t, l.Location.Physical.Region.StartLine)
		}
	}
}

func TestSourceInJSON(t *testing.T) {
	r, root, line := carelessLock(t)
	out := text(t, func(b *bytes.Buffer) error { return JSON(b, []checker.Result{r}, Options{Root: root}) })
	var doc struct {
		Results []struct{ Counterexample jsonCounterexample }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	c := doc.Results[0].Counterexample
	at := Culprit(r.Counterexample).N
	require.Equal(t, &jsonPlace{at, "source_test.go", line, "report.careless"}, c.Culprit)
	require.Len(t, c.Trace, len(r.Counterexample.Schedule))
	require.Equal(t, line, c.Trace[at-1].Line)
	require.Equal(t, "A", c.Trace[0].Task)
}

// Files are told relative to a root, when they are near it.
func TestFile(t *testing.T) {
	for _, c := range []struct{ root, name, want, uri string }{
		{"/home/me/lock", "/home/me/lock/a b/x.go", "a b/x.go", "a%20b/x.go"},
		{"/home/me/lock", "/home/me/other/x.go", "../other/x.go", "../other/x.go"},
		{"/home/me/lock", "/usr/lib/go/x.go", "/usr/lib/go/x.go", "file:///usr/lib/go/x.go"},
		{"", "/home/x.go", "/home/x.go", "file:///home/x.go"},
		{"/home/me", "example.com/lock/x.go", "example.com/lock/x.go", "example.com/lock/x.go"},
		{"/home/me", "", "", ""},
	} {
		o := Options{Root: c.root}
		require.Equal(t, c.want, o.file(c.name), c)
		require.Equal(t, c.uri, o.uri(c.name), c)
	}
}
