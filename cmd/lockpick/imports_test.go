package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// Who may know whom. Every import of the module's own packages and of other modules is
// here, and nothing else; the standard library is open to all. Tests may import more.
//
// A package of scenarios/ knows the vocabulary and nothing of how it is explored; the
// checker knows no one scenario: a user's own is equal to ours.
var imports = map[string]string{
	"sched":     "",
	"fsfake":    "",
	"model":     "porcupine",
	"scenarios": "internal/lists fsfake model internal/numbers",
	// One reported system each.
	"scenarios/agentwire":        "scenarios/kit scenarios fsfake model",
	"scenarios/ctx":              "scenarios/kit scenarios fsfake model",
	"scenarios/gateguard":        "scenarios/kit scenarios fsfake model",
	"scenarios/openclawrelease":  "scenarios/kit scenarios/internal/openclaw scenarios fsfake model",
	"scenarios/openclawtakeover": "scenarios/kit scenarios/internal/openclaw scenarios fsfake model",
	"scenarios/all":              "scenarios scenarios/*",
	// The corpus: lock protocols in use, a package for each system.
	"scenarios/command": "scenarios fsfake fsfake/tracer internal/content internal/numbers internal/outcome " +
		"internal/tempdir model x/tools/txtar",
	"scenarios/kit":        "scenarios fsfake model",
	"scenarios/aside":      "scenarios/kit scenarios fsfake model",
	"scenarios/kernelfile": "scenarios/kit scenarios fsfake model",
	"scenarios/reclaim":    "scenarios/kit scenarios fsfake model",
	"scenarios/datafile":   "scenarios/kit scenarios fsfake model",
	"scenarios/flockfile":  "scenarios/kit scenarios fsfake model",
	"scenarios/pidfile":    "scenarios/kit scenarios fsfake model",

	"checker/internal/discipline":  "checker/internal/learn fsfake scenarios",
	"checker/internal/certificate": "fsfake model scenarios",

	// What a run looked like; the engines and their judgement; what is made of results.
	"checker": "checker/internal/engine checker/internal/explain checker/internal/learn checker/internal/search " +
		"checker/trace internal/lists sched scenarios",
	"checker/internal/engine": "checker/internal/history checker/internal/learn checker/internal/parallel " +
		"checker/internal/table checker/trace sched fsfake model scenarios",
	"checker/internal/search": "checker/internal/engine checker/internal/explain checker/internal/graph " +
		"checker/internal/history checker/internal/learn checker/internal/parallel checker/internal/serial " +
		"checker/internal/table checker/trace sched fsfake scenarios porcupine",
	"checker/parameterized": "checker checker/internal/anynumber checker/internal/discipline scenarios",
	"checker/edits": "checker checker/internal/edit fsfake " +
		"internal/lists internal/outcome model scenarios",
	"checker/internal/edit": "checker/internal/learn fsfake model scenarios",
	"checker/internal/anynumber": "checker/internal/certificate checker/internal/learn " +
		"fsfake internal/lists model scenarios",
	"checker/internal/serial": "checker/internal/engine fsfake internal/outcome scenarios sched",
	"checker/trace":           "internal/lists docs sched fsfake scenarios internal/numbers porcupine",
	"checker/internal/explain": "checker/trace sched fsfake model scenarios " +
		"internal/lists internal/numbers porcupine",
	"checker/internal/graph": "",
	"checker/internal/history": "checker/internal/parallel checker/internal/table checker/trace model scenarios " +
		"porcupine",
	"checker/internal/learn":    "fsfake scenarios sched",
	"checker/internal/parallel": "",
	"checker/internal/watchdog": "checker/internal/learn fsfake scenarios",
	"checker/internal/table":    "checker/internal/parallel",
	"checker/internal/saved":    "checker checker/report scenarios sched",
	"checker/checkertest": "checker checker/internal/saved checker/internal/watchdog checker/report " +
		"checker/trace scenarios sched rapid x/tools/txtar",
	"checker/report": "internal/lists checker checker/trace docs scenarios sched fsfake model x/tools/txtar x/text " +
		"internal/numbers",
	"checker/report/site": "checker checker/report checker/trace scenarios " +
		"sched fsfake internal/lists internal/numbers",
	"checker/real": "checker checker/trace fsfake fsfake/kernel scenarios sched",
	"checker/cli": "internal/lists checker checker/edits " +
		"checker/internal/certificate checker/internal/parallel checker/internal/saved checker/internal/watchdog " +
		"checker/parameterized checker/real checker/report checker/report/site checker/trace docs " +
		"internal/native internal/numbers internal/outcome internal/tempdir scenarios scenarios/command sched " +
		"cobra pflag x/term",
	"docs":         "",
	"cmd/lockpick": "checker/cli scenarios/all",

	// The fake's neighbours: the kernel that it is compared with, and two dresses.
	"fsfake/kernel":       "fsfake x/sys",
	"fsfake/tracer":       "fsfake fsfake/tracer/stack internal/tempdir x/sys",
	"fsfake/tracer/stack": "",
	"fsfake/osfs":         "fsfake",

	// What a run leaves behind.
	"internal/outcome": "internal/lists fsfake internal/numbers scenarios",

	"internal/tempdir": "x/sys",

	// The machine as it is, for commands that change nothing of it.
	"internal/view":    "x/sys",
	"internal/content": "",
	"internal/native":  "internal/lists internal/content internal/tempdir internal/view x/sys",

	// For tests.
	"internal/decided":            "",
	"internal/reference":          "",
	"checker/internal/bruteforce": "",
	"checker/internal/toys":       "fsfake model scenarios",
	"checker/internal/fixtures": "checker/internal/history checker/trace model scenarios" +
		" scenarios/all sched porcupine testify checker/internal/toys internal/race internal/testmain",
	"internal/golden":             "testify",
	"internal/race":               "",
	"internal/testmain":           "internal/race",
	"internal/lists":              "",
	"internal/numbers":            "",
	"scenarios/internal/openclaw": "rapid testify",
}

// modules gives the short names of other modules' packages.
var modules = map[string]string{
	"porcupine":     "github.com/anishathalye/porcupine",
	"rapid":         "pgregory.net/rapid",
	"cobra":         "github.com/spf13/cobra",
	"pflag":         "github.com/spf13/pflag", // cobra's flags
	"x/text":        "golang.org/x/text/width",
	"testify":       "github.com/stretchr/testify/require",
	"x/term":        "golang.org/x/term",
	"x/sys":         "golang.org/x/sys/unix",
	"x/tools/txtar": "golang.org/x/tools/txtar",
}

const module = "lockpick/"

// load type-checks the whole module, without its tests, once.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax |
			packages.NeedTypes | packages.NeedTypesInfo,
		Dir: "../..",
	}, "./...")
})

func loaded(t *testing.T) []*packages.Package {
	t.Helper()
	pkgs, err := load()
	require.NoError(t, err)
	for _, p := range pkgs {
		require.Empty(t, p.Errors, p.PkgPath)
	}
	return pkgs
}

// short is the name that an import has in the table, "" for the standard library.
func short(path string) string {
	if own, ok := strings.CutPrefix(path, module); ok {
		return own
	}
	for name, p := range modules {
		if p == path {
			return name
		}
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return path
	}
	return ""
}

func TestImports(t *testing.T) {
	for _, p := range loaded(t) {
		require.Empty(t, strings.Join(wrongEdges(p, imports), "\n"))
	}
}

// wrongEdges lists the imports of a package that a table does not allow: both ends, the
// file where it is, and what to do.
func wrongEdges(p *packages.Package, table map[string]string) []string {
	name := strings.TrimPrefix(p.PkgPath, module)
	row, known := table[name]
	if !known {
		return []string{fmt.Sprintf("package %s is not in the table of imports: add it in cmd/lockpick/imports_test.go, and say in ARCHITECTURE.md what it is for", name)}
	}
	allowed := strings.Fields(row)
	var out []string
	for i, f := range p.Syntax {
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return append(out, err.Error())
			}
			s := short(path)
			sister := s[:strings.LastIndex(s, "/")+1] + "*"
			if s == "" || slices.Contains(allowed, s) || slices.Contains(allowed, sister) {
				continue
			}
			out = append(out, fmt.Sprintf("%s/%s imports %s: package %s may not know %s. Move what needs it to a package that may; or, where the edge is right, add %s to the line of %s in cmd/lockpick/imports_test.go and say why in ARCHITECTURE.md",
				name, filepath.Base(p.CompiledGoFiles[i]), s, name, s, s, name))
		}
	}
	return out
}

// A wrong edge is reported with both its ends, the file that has it, and the file to change.
func TestWrongEdges(t *testing.T) {
	for _, p := range loaded(t) {
		if p.PkgPath != module+"model" {
			continue
		}
		require.Empty(t, wrongEdges(p, imports))
		got := strings.Join(wrongEdges(p, map[string]string{"model": ""}), "\n")
		require.Contains(t, got, "model/spec.go imports porcupine: package model may not know porcupine.")
		require.Contains(t, got, "add porcupine to the line of model in cmd/lockpick/imports_test.go")
		require.Contains(t, wrongEdges(p, nil)[0], "package model is not in the table of imports")
		return
	}
	require.Fail(t, "package model was not loaded")
}

// The table promises no edge that is not there.
func TestImportsTableIsTight(t *testing.T) {
	used := map[string]bool{}
	for _, p := range loaded(t) {
		for path := range p.Imports {
			used[strings.TrimPrefix(p.PkgPath, module)+" "+short(path)] = true
		}
	}
	for name, allowed := range imports {
		for _, s := range strings.Fields(allowed) {
			if !strings.HasPrefix(name, "scenarios/") {
				require.True(t, used[name+" "+s], "%s does not import %s", name, s)
			}
		}
	}
}

// The command does not carry rapid, which would give it rapid's flags.
func TestCommandHasNoTestLibraries(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps}, ".")
	require.NoError(t, err)
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		require.NotContains(t, []string{"testing", modules["rapid"]}, p.PkgPath)
	})
}
