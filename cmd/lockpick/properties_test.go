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

// No code asks which property it has before it: what differs between properties is said
// in their values, so that a user's own is treated like ours, and a new one touches one
// file. Claims name properties; only comparisons are found here.
func TestNoCodeAsksForOneProperty(t *testing.T) {
	var found []string
	for _, p := range loaded(t) {
		found = append(found, comparisons(p)...)
	}
	require.Empty(t, strings.Join(found, "\n"), "give the property a field, and ask for that")
}

// comparisons lists where a package compares something with one of the properties of
// package scenarios, or with the id of one.
func comparisons(p *packages.Package) []string {
	var found []string
	for _, f := range p.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			var operands []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					operands = []ast.Expr{n.X, n.Y}
				}
			case *ast.SwitchStmt:
				for _, c := range n.Body.List {
					operands = append(operands, c.(*ast.CaseClause).List...)
				}
				if n.Tag != nil && isID(p, n.Tag) {
					operands = append(operands, n.Tag)
				}
			case *ast.IndexExpr: // a table by property
				operands = []ast.Expr{n.Index}
			}
			for i, x := range operands {
				constant := len(operands) == 2 && p.TypesInfo.Types[operands[1-i]].Value != nil
				_, tag := n.(*ast.SwitchStmt)
				if named(p, x) || isID(p, x) && (constant || tag) {
					pos := p.Fset.Position(x.Pos())
					found = append(found, fmt.Sprintf("%s/%s:%d asks for one property", strings.TrimPrefix(p.PkgPath, module), filepath.Base(pos.Filename), pos.Line))
				}
			}
			return true
		})
	}
	return found
}

// named reports whether an expression is a variable of package scenarios that is a
// property, or its id.
func named(p *packages.Package, x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if s, is := x.(*ast.SelectorExpr); is {
		if s.Sel.Name == "ID" && named(p, s.X) {
			return true
		}
		id, ok = s.Sel, true
	}
	if !ok {
		return false
	}
	v, ok := p.TypesInfo.Uses[id].(*types.Var)
	return ok && v.Pkg() != nil && v.Pkg().Path() == module+"scenarios" && v.Parent() == v.Pkg().Scope() && isProperty(v.Type())
}

// isID reports whether an expression is the id of some property.
func isID(p *packages.Package, x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "ID" && isProperty(p.TypesInfo.TypeOf(s.X))
}

func isProperty(t types.Type) bool {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Name() == "Property" && n.Obj().Pkg().Path() == module+"scenarios"
}

// The ban has teeth.
func TestComparisonsAreFound(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports,
	}, "./testdata/asks")
	require.NoError(t, err)
	found := comparisons(pkgs[0])
	for i := range found {
		_, found[i], _ = strings.Cut(found[i], "asks.go:")
	}
	require.Equal(t, []string{
		"9 asks for one property", "12 asks for one property", "13 asks for one property",
		"15 asks for one property", "18 asks for one property",
	}, found)
}
