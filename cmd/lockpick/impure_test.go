package main

import (
	"go/types"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"lockpick/checker/impure"
)

// Our own protocols are read by the analyser that users get with lockpick-vet, too. It is driven
// here and not by go vet, which would read the whole standard library once more.
func TestProtocolsArePure(t *testing.T) {
	d := driver{t: t, facts: map[string]analysis.Fact{}, done: map[string]bool{}, ours: map[string]*packages.Package{}}
	for _, p := range loaded(t) {
		d.ours[p.PkgPath] = p
	}
	for _, p := range loaded(t) {
		d.read(p)
	}
	require.Contains(t, d.done, "lockpick/scenarios/ctx")
}

// A driver runs the analyser over packages, what is imported first.
type driver struct {
	t     *testing.T
	ours  map[string]*packages.Package
	done  map[string]bool
	facts map[string]analysis.Fact // by the full name of the function
}

func (d *driver) read(p *packages.Package) {
	if d.done[p.PkgPath] {
		return
	}
	d.done[p.PkgPath] = true
	for path := range p.Imports {
		if own := d.ours[path]; own != nil {
			d.read(own)
		}
	}
	_, err := impure.Analyzer.Run(&analysis.Pass{
		Analyzer: impure.Analyzer, Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo,
		Report: func(found analysis.Diagnostic) {
			d.t.Errorf("%s: %s", p.Fset.Position(found.Pos), found.Message)
		},
		ExportObjectFact: func(obj types.Object, fact analysis.Fact) { d.facts[obj.(*types.Func).FullName()] = fact },
		ImportObjectFact: func(obj types.Object, fact analysis.Fact) bool {
			known, ok := d.facts[obj.(*types.Func).FullName()]
			if ok {
				reflect.ValueOf(fact).Elem().Set(reflect.ValueOf(known).Elem())
			}
			return ok
		},
	})
	require.NoError(d.t, err)
}
