package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// Two runs print the same bytes. These bans keep it so: whatever could differ between
// two runs is kept out of all packages but those that meet the world.
var world = map[string]bool{
	"cmd/lockpick": true, "checker/cli": true, "checker/real": true, "fsfake/kernel": true, "checker/internal/watchdog": true, "fsfake/tracer": true,
	"fsfake/osfs":     true, // half of it is package os
	"internal/native": true, // the world is what it is there for
}

// concurrent are the files that may start goroutines: for the workers of the exploration,
// whose results do not depend on who was faster, and for the watchdog, on whom no verdict depends.
var concurrent = []string{"checker/internal/parallel/*.go", "checker/internal/watchdog/*.go"}

// variables are the package variables that may be written to, with the reason.
var variables = map[string]string{
	"checker/checkertest.pinning": "a mutex: rapid's flags are variables of the process",
}

// excuse is the comment that allows a range over a map, with a reason after it.
const excuse = "// order does not matter: "

var banned = map[string]func(name string) bool{
	"time":         oneOf("Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"),
	"math/rand":    anyName,
	"math/rand/v2": func(name string) bool { return !strings.HasPrefix(name, "New") },
	"crypto/rand":  anyName,
	"hash/maphash": anyName,
	"unsafe":       anyName,
}

func anyName(string) bool { return true }

func oneOf(names ...string) func(string) bool {
	return func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
}

func TestDeterminism(t *testing.T) {
	for _, p := range loaded(t) {
		if name := strings.TrimPrefix(p.PkgPath, module); !world[name] {
			a := audit{p: p, name: name}
			for _, f := range p.Syntax {
				a.file(f)
			}
			require.Empty(t, strings.Join(a.found, "\n"))
		}
	}
}

// An audit collects what one package may not do.
type audit struct {
	p       *packages.Package
	name    string
	lines   map[int]string // comments by line of the current file
	started bool           // goroutines are allowed in the current file
	found   []string
}

func (a *audit) report(n ast.Node, format string, args ...any) {
	pos := a.p.Fset.Position(n.Pos())
	a.found = append(a.found, fmt.Sprintf("%s/%s:%d: %s", a.name, filepath.Base(pos.Filename), pos.Line, fmt.Sprintf(format, args...)))
}

func (a *audit) file(f *ast.File) {
	a.lines = map[int]string{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			a.lines[a.p.Fset.Position(c.Pos()).Line] = c.Text
		}
	}
	a.started = false
	for _, pattern := range concurrent {
		ok, _ := filepath.Match(pattern, a.name+"/"+filepath.Base(a.p.Fset.Position(f.Pos()).Filename))
		a.started = a.started || ok
	}
	ast.Inspect(f, a.node)
}

func (a *audit) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		if fn, ok := a.p.TypesInfo.Uses[n].(*types.Func); ok && fn.Pkg() != nil && fn.Signature().Recv() == nil {
			if ban := banned[fn.Pkg().Path()]; ban != nil && ban(fn.Name()) {
				a.report(n, "%s.%s differs from run to run", fn.Pkg().Path(), fn.Name())
			}
		}
	case *ast.GoStmt:
		if !a.started {
			a.report(n, "a goroutine")
		}
	case *ast.SelectStmt:
		if len(n.Body.List) > 1 && !a.started {
			a.report(n, "a select with several cases")
		}
	case *ast.RangeStmt:
		if _, ok := a.p.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); ok && !a.excused(n) {
			a.report(n, "a range over a map without %q and the reason", excuse)
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, x := range n.Lhs {
				a.written(x)
			}
		}
	case *ast.IncDecStmt:
		a.written(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			a.written(n.X)
		}
	case *ast.SelectorExpr:
		a.method(n)
	}
	return true
}

func (a *audit) excused(n *ast.RangeStmt) bool {
	text, found := strings.CutPrefix(a.lines[a.p.Fset.Position(n.Pos()).Line], excuse)
	return found && strings.TrimSpace(text) != ""
}

// method finds a call that may change a package variable: through a pointer to it.
func (a *audit) method(n *ast.SelectorExpr) {
	s := a.p.TypesInfo.Selections[n]
	if s == nil || s.Kind() != types.MethodVal {
		return
	}
	recv := s.Obj().(*types.Func).Signature().Recv().Type()
	_, through := a.p.TypesInfo.TypeOf(n.X).(*types.Pointer) // base64.StdEncoding, say: nobody's own
	if _, pointer := recv.(*types.Pointer); pointer && !through {
		a.written(n.X)
	}
}

// written reports a package variable that is written to: there is no state outside
// values.
func (a *audit) written(x ast.Expr) {
	for {
		switch e := x.(type) {
		case *ast.SelectorExpr:
			if a.p.TypesInfo.Selections[e] == nil { // pkg.Variable
				x = e.Sel
				continue
			}
			x = e.X
			continue
		case *ast.IndexExpr:
			x = e.X
			continue
		case *ast.StarExpr:
			x = e.X
			continue
		case *ast.ParenExpr:
			x = e.X
			continue
		}
		break
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return
	}
	v, ok := a.p.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return
	}
	if variables[strings.TrimPrefix(v.Pkg().Path(), module)+"."+v.Name()] == "" {
		a.report(id, "the package variable %s is written to", v.Name())
	}
}

// The bans have teeth.
func TestDeterminismFindsOffences(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports,
	}, "./testdata/banned")
	require.NoError(t, err)
	a := audit{p: pkgs[0], name: "x"}
	for _, f := range pkgs[0].Syntax {
		a.file(f)
	}
	require.Equal(t, []string{
		"x/banned.go:15: time.Now differs from run to run",
		"x/banned.go:19: the package variable counter is written to",
		"x/banned.go:20: the package variable table is written to",
		"x/banned.go:21: the package variable counter is written to",
		"x/banned.go:22: the package variable mutex is written to",
		"x/banned.go:23: a goroutine",
		"x/banned.go:23: time.Sleep differs from run to run",
		"x/banned.go:24: a range over a map without \"// order does not matter: \" and the reason",
		"x/banned.go:29: a range over a map without \"// order does not matter: \" and the reason",
		"x/banned.go:36: a select with several cases",
		"x/banned.go:40: math/rand/v2.IntN differs from run to run",
	}, a.found)
}
