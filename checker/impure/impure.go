package impure

import (
	"go/ast"
	"go/build"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Analyzer reports what a protocol may not do: whatever can differ between two runs that get the same
// answers. It reports nothing in lockpick's own packages but scenarios.
var Analyzer = &analysis.Analyzer{
	Name:      "impure",
	Doc:       "report what makes a lock protocol no function of the answers of the fake machine\n\nThe real clock, random numbers, the order of a map, the real disk, goroutines and shared Go variables, in functions that reach a *scenarios.Task, an *fsfake.Proc or an *fsfake.Machine.",
	URL:       "https://pkg.go.dev/lockpick/checker/impure",
	Run:       run,
	FactTypes: []analysis.Fact{new(differs)},
}

// differs is a fact about a function: what it does, by itself or by what it calls, can differ from
// run to run.
type differs struct{ Why string }

func (*differs) AFact()           {}
func (d *differs) String() string { return d.Why }

// A reader reads one package.
type reader struct {
	*analysis.Pass
	functions map[*types.Func]*ast.FuncDecl
	order     []*types.Func  // as they stand in the source
	comments  map[int]string // by file and line, see lineOf
	reported  map[ast.Node]bool
}

func run(pass *analysis.Pass) (any, error) {
	if own(pass.Pkg.Path()) || standard(pass) {
		return nil, nil
	}
	r := &reader{Pass: pass, functions: map[*types.Func]*ast.FuncDecl{}, comments: map[int]string{}, reported: map[ast.Node]bool{}}
	for _, f := range pass.Files {
		r.file(f)
	}
	r.export()
	r.protocols()
	return nil, nil
}

// own: the machine and the engines, which are not made of protocols.
func own(path string) bool {
	rest, ok := strings.CutPrefix(path, "lockpick/")
	return ok && rest != "scenarios/kit" && (!strings.HasPrefix(rest, "scenarios/") || rest == "scenarios/command")
}

func standard(pass *analysis.Pass) bool {
	src := filepath.Join(build.Default.GOROOT, "src") + string(filepath.Separator)
	return len(pass.Files) > 0 && strings.HasPrefix(pass.Fset.Position(pass.Files[0].Pos()).Filename, src)
}

// lineOf is a line of any file as one number.
func (r *reader) lineOf(n ast.Node) int {
	f := r.Fset.File(n.Pos())
	return f.Base() + f.Line(n.Pos())
}

func (r *reader) file(f *ast.File) {
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil {
			if fn, ok := r.TypesInfo.Defs[fd.Name].(*types.Func); ok {
				r.functions[fn] = fd
				r.order = append(r.order, fn)
			}
		}
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			r.comments[r.lineOf(c)] = c.Text
		}
	}
}

// export tells other packages which functions of this one differ from run to run.
func (r *reader) export() {
	why := map[*types.Func]string{}
	for again := true; again; {
		again = false
		for _, fn := range r.order {
			if why[fn] != "" {
				continue
			}
			r.walk(r.functions[fn].Body, nil, func(_ ast.Node, o offence) {
				if why[fn] == "" && o.abroad {
					why[fn] = o.what
				}
			})
			for _, callee := range r.callees(r.functions[fn].Body) {
				if why[fn] == "" && why[callee] != "" {
					why[fn] = why[callee]
				}
			}
			again = again || why[fn] != ""
		}
	}
	for _, fn := range r.order {
		if why[fn] != "" {
			r.ExportObjectFact(fn, &differs{why[fn]})
		}
	}
}

// callees are the functions of this package that are called in a body, in the order of the source.
func (r *reader) callees(body ast.Node) (out []*types.Func) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn, ok := typeutil.Callee(r.TypesInfo, call).(*types.Func); ok && r.functions[fn.Origin()] != nil {
				out = append(out, fn.Origin())
			}
		}
		return true
	})
	return out
}

// protocols reports what stands in functions that reach a task.
func (r *reader) protocols() {
	var todo []*types.Func
	reached := map[*types.Func]bool{}
	reach := func(fns ...*types.Func) {
		for _, fn := range fns {
			if !reached[fn] {
				reached[fn] = true
				todo = append(todo, fn)
			}
		}
	}
	for _, fn := range r.order {
		fd := r.functions[fn]
		if reaches(fn.Signature()) {
			reach(fn)
			continue
		}
		ast.Inspect(fd.Body, func(n ast.Node) bool {
			lit, ok := n.(*ast.FuncLit)
			if !ok || !reaches(r.TypesInfo.TypeOf(lit).(*types.Signature)) {
				return true
			}
			r.report(lit)
			reach(r.callees(lit.Body)...)
			return false
		})
	}
	for _, f := range r.Files { // programs that are values of package variables
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				ast.Inspect(g, func(n ast.Node) bool {
					if lit, ok := n.(*ast.FuncLit); ok && reaches(r.TypesInfo.TypeOf(lit).(*types.Signature)) {
						r.report(lit)
						reach(r.callees(lit.Body)...)
						return false
					}
					return true
				})
			}
		}
	}
	for len(todo) > 0 {
		fn := todo[0]
		todo = todo[1:]
		r.report(r.functions[fn])
		reach(r.callees(r.functions[fn].Body)...)
	}
}

// reaches: a function gets a task, a process or a machine.
func reaches(s *types.Signature) bool {
	if v := s.Recv(); v != nil && holdsTask(v.Type()) {
		return true
	}
	for v := range s.Params().Variables() {
		if isTask(v.Type()) {
			return true
		}
	}
	return false
}

// holdsTask: a value is a task, or has one as a field.
func holdsTask(t types.Type) bool {
	if isTask(t) {
		return true
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	return ok && slices.ContainsFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return isTask(f.Type()) })
}

func isTask(t types.Type) bool {
	p, ok := t.(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() + "." + n.Obj().Name() {
	case "lockpick/scenarios.Task", "lockpick/fsfake.Proc", "lockpick/fsfake.Machine":
		return true
	}
	return false
}

// report reports the offences in a function.
func (r *reader) report(fn ast.Node) {
	r.walk(fn, fn, func(n ast.Node, o offence) {
		if r.reported[n] {
			return
		}
		r.reported[n] = true
		r.Report(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Category: reflect.TypeOf(n).Elem().Name(), Message: o.what + ": " + o.instead})
	})
}
