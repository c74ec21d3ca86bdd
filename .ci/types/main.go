// Command types checks the types of every package of the module and of its tests, as the compiler does it
// for other systems, and vets the packages that have files for some systems only: go run ./.ci/types
// windows/amd64 darwin/arm64 linux/amd64/race. The third part is a build tag. It makes no code for them, which would
// take ten times the time.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	for _, platform := range os.Args[1:] {
		n, vetted, err := check(platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages, %d of them vetted\n", platform, n, vetted)
	}
}

// check checks the packages for a platform, GOOS/GOARCH or GOOS/GOARCH/TAG, and returns how many there are, and how
// many of them are vetted.
func check(platform string) (n, vetted int, err error) {
	on := strings.Split(platform, "/")
	if len(on) < 2 {
		return 0, 0, errors.New("no platform, want GOOS/GOARCH or GOOS/GOARCH/TAG")
	}
	all, err := packages.Load(&packages.Config{
		Mode:       packages.LoadAllSyntax,
		Env:        append(os.Environ(), "CGO_ENABLED=0", "GOOS="+on[0], "GOARCH="+on[1]),
		BuildFlags: []string{"-tags=" + strings.Join(on[2:], ",")},
		Tests:      true,
	}, "./...")
	if err != nil {
		return 0, 0, err
	}
	if wrong := packages.PrintErrors(all); wrong > 0 || len(all) == 0 {
		return 0, 0, fmt.Errorf("%d errors in %d packages", wrong, len(all))
	}
	some := slices.DeleteFunc(slices.Clone(all), func(p *packages.Package) bool {
		return !slices.ContainsFunc(p.Syntax, constrained)
	})
	return len(all), len(some), vetAll(some)
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
