package report

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// sourceOf is where in the source a step makes its call: of several calls the last that is
// known. It is zero when none is.
func sourceOf(st *trace.Step) scenarios.Source {
	for _, c := range slices.Backward(st.Calls) {
		if c.Source.File != "" {
			return c.Source
		}
	}
	return scenarios.Source{}
}

// Culprit is the step of a counterexample whose call went wrong, as far as its source is
// known: the one that the cause accuses, or else the one whose answer nothing explains, or
// else the last that the cause names, or the last of all. It is nil when no step's source is
// known.
func Culprit(cx *trace.Counterexample) *trace.Step {
	asked := []int{cx.Act, cx.Blamed}
	for _, n := range slices.Backward(cx.Named) {
		asked = append(asked, n)
	}
	for _, n := range append(asked, len(cx.Trace)) {
		if n > 0 && n <= len(cx.Trace) && sourceOf(&cx.Trace[n-1]).File != "" {
			return &cx.Trace[n-1]
		}
	}
	for i := range slices.Backward(cx.Trace) {
		if sourceOf(&cx.Trace[i]).File != "" {
			return &cx.Trace[i]
		}
	}
	return nil
}

// whereWrong is where a counterexample is shown: at the call that went wrong, or else at the command
// that made it. Its line is 0 where only the file is known.
func (o *Options) whereWrong(cx *trace.Counterexample) scenarios.Source {
	if at := Culprit(cx); at != nil {
		return sourceOf(at)
	}
	n := len(cx.Trace)
	if cx.Act > 0 && cx.Act <= n {
		n = cx.Act
	}
	if n == 0 {
		return scenarios.Source{}
	}
	if p := cx.Trace[n-1].Choice.Task.Process; p < len(o.Commands) {
		return o.Commands[p]
	}
	return scenarios.Source{}
}

// file is a file of the source as it is told: relative to the root where it is below it.
func (o *Options) file(name string) string {
	if name == "" || o.Root == "" || !filepath.IsAbs(name) {
		return filepath.ToSlash(name)
	}
	rel, err := filepath.Rel(o.Root, name)
	if err != nil || strings.HasPrefix(rel, filepath.Join("..", "..", "..")) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}

// place is "lock.go:31", as compilers write it, and empty when it is not known.
func (o *Options) place(s scenarios.Source) string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", Visible(o.file(s.File)), s.Line)
}

// uri is a file of the source as a reference to it.
func (o *Options) uri(name string) string {
	file := o.file(name)
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: file}).String()
	}
	return (&url.URL{Path: file}).EscapedPath()
}

// Places lists where in the source the calls stand that the cause of a counterexample names,
// the one that went wrong first; none when no source is known.
func Places(r *checker.Result, o Options) []string {
	if r.Counterexample == nil {
		return nil
	}
	return o.sources(r.Scenario, r.Counterexample)
}

// sources lists where the calls stand that the cause names: "lock.go:31  step 7, A: unlink
// lock". The one that went wrong is the first, if it is known where that stands.
func (o *Options) sources(sc *scenarios.Scenario, cx *trace.Counterexample) []string {
	culprit := Culprit(cx)
	if culprit == nil {
		return nil
	}
	steps := []int{culprit.N}
	for _, n := range slices.Sorted(slices.Values(cx.Named)) {
		if n != culprit.N && n <= len(cx.Trace) {
			steps = append(steps, n)
		}
	}
	var lines []string
	walk := trace.NewWalk(sc, cx.Trace)
	for _, n := range steps {
		if at := o.place(sourceOf(&cx.Trace[n-1])); at != "" {
			lines = append(lines, fmt.Sprintf("%s: step %d, %s", at, n, Visible(doing(walk.Steps[n-1].Step, walk.Names))))
		}
	}
	accused := cmp.Or(cx.Act, cx.Blamed)
	if len(cx.Named) > 0 {
		accused = cmp.Or(accused, cx.Named[len(cx.Named)-1])
	}
	if len(lines) > 1 && cmp.Or(accused, culprit.N) == culprit.N {
		lines[0] += " ← this one went wrong"
	}
	return lines
}
