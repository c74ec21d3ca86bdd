package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The race detector runs where something happens side by side: .ci/run asks .ci/concurrent for the
// packages, and that searches the text of the source. No package that starts goroutines, or guards
// memory against them, may be missing there.
func TestConcurrentPackages(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash, so that .ci/concurrent was not compared with the source; go test ./cmd/lockpick runs it where there is one")
	}
	out, err := exec.Command(bash, "../../.ci/concurrent").Output()
	require.NoError(t, err)
	listed := strings.Fields(string(out))
	want := map[string]string{} // by package, where
	files := token.NewFileSet()
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if at := concurrentAt(f, strings.HasSuffix(path, "_test.go")); at.IsValid() {
			dir, _ := filepath.Rel("../..", filepath.Dir(path))
			want["./"+filepath.ToSlash(dir)] = files.Position(at).String()
		}
		return nil
	}))
	require.Contains(t, want, "./checker/internal/parallel")
	for dir, at := range want { // order does not matter: the first that is missing fails the test
		require.Contains(t, listed, dir, "%s: there are goroutines, and .ci/concurrent does not find them: the race detector would not run there", at)
	}
	require.True(t, slices.IsSorted(listed))
}

// concurrentAt returns where a file starts goroutines, has somebody start them, or, outside of tests,
// guards memory against them.
func concurrentAt(f *ast.File, test bool) (at token.Pos) {
	starts := map[string]bool{"Together": true, "AfterFunc": true, "Notify": true, "NotifyContext": true}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at = n.Pos()
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && starts[s.Sel.Name] {
				at = n.Pos()
			}
		case *ast.ImportSpec:
			if !test && (n.Path.Value == `"sync"` || n.Path.Value == `"sync/atomic"`) {
				at = n.Pos()
			}
		}
		return !at.IsValid()
	})
	return at
}
