package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// No case lists several calls: such a list forgets a call that comes later. What calls have in common is a trait.
func TestCallsAreListedNowhereElse(t *testing.T) {
	t.Parallel()
	var found []string
	for _, p := range loaded(t) {
		found = append(found, callLists(p)...)
	}
	require.Empty(t, strings.Join(found, "\n"), "give the calls a trait in fsfake/traits.go, and ask for that with "+
		"Call.Is")
}

// callLists finds the cases of a package that list several constants of type fsfake.Call.
func callLists(p *packages.Package) (found []string) {
	call := func(x ast.Expr) bool {
		tv := p.TypesInfo.Types[x]
		named, ok := tv.Type.(*types.Named)
		return ok && tv.Value != nil && tv.Value.Kind() == constant.Int &&
			named.Obj().Name() == "Call" && named.Obj().Pkg().Path() == module+"fsfake"
	}
	for _, f := range p.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CaseClause)
			if ok && len(c.List) > 1 && call(c.List[0]) && call(c.List[1]) {
				pos := p.Fset.Position(c.Pos())
				found = append(found, fmt.Sprintf("%s/%s:%d lists calls", strings.TrimPrefix(p.PkgPath, module),
					filepath.Base(pos.Filename), pos.Line))
			}
			return true
		})
	}
	return found
}
