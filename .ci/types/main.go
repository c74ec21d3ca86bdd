// Command types checks the types of every package of the module and of its tests, as the compiler does it
// for other systems: go run ./.ci/types windows/amd64 darwin/arm64. It makes no code for them, which
// would take ten times the time.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A unit is what go list says of a package, or of what a test makes of it.
type unit struct {
	ImportPath, Dir, Name string
	GoFiles, CgoFiles     []string
	Standard              bool
	Module                *struct{ Main bool }
	ImportMap             map[string]string
	Error                 *struct{ Err string }
}

func main() {
	for _, platform := range os.Args[1:] {
		n, err := check(platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", platform, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages\n", platform, n)
	}
}

// check checks the packages for a platform, GOOS/GOARCH, and returns how many of the module's there are.
func check(platform string) (int, error) {
	system, arch, ok := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", arch)
	if !ok || sizes == nil {
		return 0, fmt.Errorf("no platform, want GOOS/GOARCH")
	}
	list := exec.Command("go", "list", "-e", "-deps", "-test",
		"-json=ImportPath,Dir,Name,GoFiles,CgoFiles,Standard,Module,ImportMap,Error", "./...")
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w", err)
	}
	checked, done, n := map[string]*types.Package{"unsafe": types.Unsafe}, 0, 0
	var wrong []error
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; done++ {
		var u unit
		if err := dec.Decode(&u); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		if u.ImportPath == "unsafe" || strings.HasSuffix(u.ImportPath, ".test") { // go test writes its main
			continue
		}
		if u.Error != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s", u.ImportPath, u.Error.Err))
			continue
		}
		mine := u.Module != nil && u.Module.Main
		found, errs := typesOf(&u, mine, arch, sizes, checked)
		checked[u.ImportPath] = found
		if mine {
			n++
			wrong = append(wrong, errs...)
		}
	}
	if n == 0 {
		wrong = append(wrong, errors.New("go list lists no package of this module"))
	}
	return n, errors.Join(wrong...)
}

// typesOf checks one package whose imports are checked. What is not the module's is taken to be right.
func typesOf(u *unit, mine bool, arch string, sizes types.Sizes, checked map[string]*types.Package) (
	*types.Package, []error) {
	var files []*ast.File
	var wrong []error
	fset := token.NewFileSet()
	for _, name := range append(u.GoFiles, u.CgoFiles...) {
		f, err := parser.ParseFile(fset, filepath.Join(u.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		files = append(files, f)
	}
	config := types.Config{
		IgnoreFuncBodies: !mine,
		FakeImportC:      true,
		Sizes:            sizes,
		Error:            func(err error) { wrong = append(wrong, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if to, ok := u.ImportMap[path]; ok {
				path = to
			}
			if p := checked[path]; p != nil {
				return p, nil
			}
			return nil, fmt.Errorf("%s is not there", path)
		}),
	}
	path, _, _ := strings.Cut(u.ImportPath, " ")
	p, _ := config.Check(path, fset, files, nil) // config.Error notes what is wrong
	return p, wrong
}

type importer func(string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
