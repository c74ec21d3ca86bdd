// Command types checks the types of every package of the module and of its tests, as the compiler does it, and vets
// them: go run ./.ci/types linux/amd64 windows/amd64 darwin/arm64. On the first system every package is vetted, on the
// others those that have files for some systems only. It makes no
// code, which would take ten times the time for another system; and go vet starts a process for each package, which
// reads again what the others have read, and takes five times the time of all of them in one.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	for i, platform := range os.Args[1:] {
		n, vetted, err := check(platform, i == 0)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages, %d of them vetted\n", platform, n, vetted)
	}
}

// check checks the packages for a platform, GOOS/GOARCH, and returns how many there are, and how many of them are
// vetted: all, or those that differ from platform to platform.
func check(platform string, whole bool) (n, vetted int, err error) {
	system, processor, is := strings.Cut(platform, "/")
	if !is {
		return 0, 0, errors.New("no platform, want GOOS/GOARCH")
	}
	config := &packages.Config{
		Mode:  packages.LoadAllSyntax,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
		Tests: true,
	}
	if !whole {
		config.ParseFile = withoutBodies
	}
	all, err := packages.Load(config, "./...", "./.ci/types")
	if err != nil {
		return 0, 0, err
	}
	packages.Visit(all, nil, forgetUnused)
	if wrong := packages.PrintErrors(all); wrong > 0 || len(all) == 0 {
		return 0, 0, fmt.Errorf("%d errors in %d packages", wrong, len(all))
	}
	some := slices.DeleteFunc(slices.Clone(all), func(p *packages.Package) bool {
		return !whole && !slices.ContainsFunc(p.Syntax, constrained)
	})
	return len(all), len(some), vetAll(some)
}

// withoutBodies parses a file, and leaves out what functions of other modules do, where nothing needs it: a generic
// function and init must have a body.
func withoutBodies(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	f, err := parser.ParseFile(fset, name, text, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || !ofOthers(name) {
		return f, err
	}
	for _, d := range f.Decls {
		if d, is := d.(*ast.FuncDecl); is && d.Type.TypeParams == nil && d.Name.Name != "init" && !generic(d.Recv) {
			d.Body = nil
		}
	}
	return f, nil
}

// ofOthers reports whether a file is of the standard library or of another module: this one is checked where it is.
func ofOthers(name string) bool {
	here, err := os.Getwd()
	return err == nil && !strings.HasPrefix(name, here+string(os.PathSeparator))
}

// generic reports whether the type of a receiver has parameters.
func generic(receiver *ast.FieldList) bool {
	if receiver == nil {
		return false
	}
	of := receiver.List[0].Type
	if p, is := of.(*ast.StarExpr); is {
		of = p.X
	}
	switch of.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

// forgetUnused is for a package whose imports have been looked at: without bodies others' files import what they do
// not use, which is no mistake.
func forgetUnused(p *packages.Package) {
	p.Errors = slices.DeleteFunc(p.Errors, func(e packages.Error) bool {
		file, _, _ := strings.Cut(e.Pos, ":")
		return ofOthers(file) && strings.HasSuffix(e.Msg, " and not used")
	})
	p.IllTyped = len(p.Errors) > 0
	for _, of := range p.Imports {
		p.IllTyped = p.IllTyped || of.IllTyped
	}
}

// constrained reports whether a file is there on some systems only.
func constrained(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && constraint.IsGoBuild(c.Text) {
				return true
			}
		}
	}
	return false
}

// vetAll vets packages as go vet does.
func vetAll(some []*packages.Package) error {
	graph, err := checker.Analyze(vet.Suite, some, nil)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	if err := graph.PrintText(&said, -1); err != nil {
		return err
	}
	for _, a := range graph.Roots {
		err = errors.Join(err, a.Err)
	}
	if said.Len() > 0 {
		err = errors.Join(err, errors.New("vet says:\n"+said.String()))
	}
	return err
}
