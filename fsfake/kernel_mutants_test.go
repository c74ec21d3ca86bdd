//go:build linux

package fsfake_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// The mutants in testdata/mutants are small changes of the fake, each a lie about locks or
// names. Every one must be caught: by a golden story, by a kept sequence, or by a drawn
// one. They are applied from outside, with go test -overlay, so that the fake carries no
// switch. TestMutantsApply, which always runs, makes sure that they still apply and that
// docs/mutants.md, which TestMutants writes, speaks of these and no others.

var (
	mutantsFlag = flag.Bool("kernel.mutants", false, "run every mutant of testdata/mutants and require that it is caught")
	writeFlag   = flag.Bool("kernel.write", false, "rewrite docs/kernel-coverage.md, and docs/mutants.md with -kernel.mutants")
)

const mutantsDoc = "../docs/mutants.md"

// mutantSequences is how many sequences a mutant has to survive.
const mutantSequences = 3000

// A mutant is one change.
type mutant struct {
	id, what, file, old, text string
}

func mutants(t *testing.T) []mutant {
	files, err := filepath.Glob("testdata/mutants/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []mutant
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		require.NoError(t, err)
		require.Len(t, a.Files, 2, f)
		m := mutant{
			id: strings.TrimSuffix(filepath.Base(f), ".txtar"), what: strings.TrimSpace(string(a.Comment)),
			file: a.Files[0].Name, old: string(a.Files[0].Data), text: string(a.Files[1].Data),
		}
		if !strings.HasPrefix(m.old, "\t") { // a part of a line
			m.old, m.text = strings.TrimSuffix(m.old, "\n"), strings.TrimSuffix(m.text, "\n")
		} else if !strings.HasSuffix(m.text, "\n") && m.text != "" {
			m.text += "\n"
		}
		all = append(all, m)
	}
	return all
}

// source returns the mutated file.
func (m *mutant) source(t *testing.T) []byte {
	src, err := os.ReadFile(m.file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(src), m.old),
		"mutant %s: the text to change must be in %s exactly once; write the mutant anew:\n%s", m.id, m.file, m.old)
	return []byte(strings.Replace(string(src), m.old, m.text, 1))
}

func TestMutantsApply(t *testing.T) {
	doc, err := os.ReadFile(mutantsDoc)
	require.NoError(t, err)
	all := mutants(t)
	for _, m := range all {
		require.NotEqual(t, m.old, m.text)
		m.source(t)
		require.Contains(t, string(doc), "| "+m.id+" | "+m.what+" |", "%s is out of date: go test ./fsfake -run 'TestMutants$' -kernel.mutants -kernel.write", mutantsDoc)
	}
	require.Equal(t, len(all)+2, strings.Count(string(doc), "\n|"), "%s speaks of other mutants", mutantsDoc)
}

func TestMutants(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("SKIPPED: it compiles each mutant of the fake and compares it with the kernel, which takes long; go test ./fsfake -run 'TestMutants$' -kernel.mutants runs it")
	}
	var doc strings.Builder
	fmt.Fprintf(&doc, `# Mutants of the fake

Each is a small change that makes package fsfake lie, applied with `+"`go test -overlay`"+`, and was
caught by the golden stories in fsfake/testdata/stories named, by the kept sequences in
fsfake/testdata/kernel named, and by the comparison with the kernel of drawn sequences, of which the
number of the first that showed it is given (%d were tried). Written by

    go test ./fsfake -run 'TestMutants$' -kernel.mutants -kernel.write

| mutant | the lie | golden stories | kept sequences | drawn sequences |
|---|---|---|---|---|
`, mutantSequences)
	for _, m := range mutants(t) {
		t.Run(m.id, func(t *testing.T) {
			c := m.run(t)
			require.True(t, c.any(), "mutant %s, %q, survives", m.id, m.what)
			fmt.Fprintf(&doc, "| %s | %s | %s | %s | %s |\n", m.id, m.what, listed(c.stories), listed(c.kept), listed(c.drawn))
			t.Logf("%s: stories %s; kept %s; drawn %s", m.what, listed(c.stories), listed(c.kept), listed(c.drawn))
		})
	}
	if *writeFlag && !t.Failed() {
		require.NoError(t, os.WriteFile(mutantsDoc, []byte(doc.String()), 0o644))
	}
}

// caught is what showed a mutant.
type caught struct{ stories, kept, drawn []string }

func (c *caught) any() bool { return len(c.stories)+len(c.kept)+len(c.drawn) > 0 }

func listed(s []string) string {
	if len(s) == 0 {
		return "–"
	}
	return strings.Join(s, ", ")
}

var (
	failedStory = regexp.MustCompile(`--- FAIL: TestStories/(\S+)`)
	failedKept  = regexp.MustCompile(`testdata/kernel/(\S+)\.txt: `)
	failedDrawn = regexp.MustCompile(`    seed (\d+): `)
)

// run runs the tests against the mutated fake.
func (m *mutant) run(t *testing.T) (c caught) {
	dir := t.TempDir()
	mutated := filepath.Join(dir, m.file)
	require.NoError(t, os.WriteFile(mutated, m.source(t), 0o644))
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, m.file): mutated}})
	require.NoError(t, err)
	list := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o644))
	binary := filepath.Join(dir, "mutant.test")
	out, err := exec.Command("go", "test", "-overlay", list, "-c", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "mutant %s does not compile:\n%s", m.id, out)

	// Each alone: a mutant may make the fake panic.
	find := func(test string, sign *regexp.Regexp) []string {
		run := exec.Command(binary, "-test.run", test, "-test.timeout=5m",
			"-kernel.cpus=1", fmt.Sprint("-kernel.sequences=", mutantSequences))
		out, err := run.CombinedOutput()
		if err == nil {
			return nil
		}
		var names []string
		for _, f := range sign.FindAllSubmatch(out, -1) {
			names = append(names, string(f[1]))
		}
		if len(names) == 0 {
			require.True(t, bytes.Contains(out, []byte("panic: ")), "mutant %s failed in another way:\n%s", m.id, out)
			names = []string{"panic"}
		}
		return names
	}
	c.stories = find("TestStories", failedStory)
	c.kept = find("TestKernelKept", failedKept)
	c.drawn = find("TestKernelDraws", failedDrawn)
	return c
}
