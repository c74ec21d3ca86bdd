package impure

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// An offence is what can differ from run to run.
type offence struct {
	what, instead string
	// abroad: it also counts in a function of another package that a protocol calls. Goroutines,
	// locks and maps may be used there so that nobody notices.
	abroad bool
}

// A family is a package of which functions are known to differ from run to run.
type family struct {
	path          string
	all           bool // but those that are named, instead of those only
	names         string
	what, instead string
}

// families are in one order, as a test reads them.
var families = []family{
	{"time", false, "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker", "reads the real clock", "use t.Now and t.Sleep"},
	{"math/rand", true, "New NewSource NewZipf", "draws lots", "use t.Choose, which all outcomes are tried of"},
	{"math/rand/v2", true, "New NewPCG NewChaCha8 NewZipf", "draws lots", "use t.Choose, which all outcomes are tried of"},
	{"crypto/rand", true, "", "draws lots", "use t.Choose, which all outcomes are tried of"},
	{"hash/maphash", true, "", "differs from process to process", "use another hash"},
	{"os", true, "IsExist IsNotExist IsPermission IsTimeout IsPathSeparator Expand NewSyscallError", "acts on the real system", "call it on the task, as t.OpenFile"},
	{"io/ioutil", true, "ReadAll NopCloser", "acts on the real disk", "call it on the task, as t.ReadFile"},
	{"os/exec", true, "", "starts a real program", "use t.Fork, or lockpick run for real programs"},
	{"syscall", true, "", "asks the real kernel", "call it on the task"},
	{"golang.org/x/sys/unix", true, "", "asks the real kernel", "call it on the task"},
	{"path/filepath", false, "Abs EvalSymlinks Glob Walk WalkDir", "looks at the real disk", "look through the task, as t.ReadDir"},
}

// of returns the offence of using a function of another package, if it is one.
func (f family) of(fn *types.Func) (offence, bool) {
	named := strings.Contains(" "+f.names+" ", " "+fn.Name()+" ")
	if fn.Pkg().Path() != f.path || named == f.all || !fn.Exported() {
		return offence{}, false
	}
	return offence{what: f.path + "." + fn.Name() + " " + f.what, instead: f.instead, abroad: true}, true
}

// excuse is the comment, at the end of the line, that allows a range over a map.
const excuse = "// order does not matter: "

// walk tells of every offence in a body. root is the function that is a protocol's, whose own
// variables nobody else sees; nil where that is not asked.
func (r *reader) walk(body, root ast.Node, tell func(ast.Node, offence)) {
	sorted := map[ast.Node]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if fn, ok := r.TypesInfo.Uses[n].(*types.Func); ok && !sorted[n] {
				r.function(n, fn, tell)
			}
		case *ast.CallExpr:
			r.sorts(n, sorted)
		case *ast.GoStmt:
			tell(n, offence{what: "a goroutine is scheduled by Go, in no order", instead: "make it a task of the process (Setting.Tasks), which Task.Start may start"})
		case *ast.SelectStmt, *ast.SendStmt:
			tell(n, offence{what: "a channel is not seen by the fake", instead: "use fsfake.Cell, or kit.Channel"})
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				tell(n, offence{what: "a channel is not seen by the fake", instead: "use fsfake.Cell, or kit.Channel"})
			}
		case *ast.RangeStmt:
			if _, ok := r.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); ok && !r.excused(n) {
				tell(n, offence{what: "a range over a map has another order each time", instead: "go over sorted keys, or end the line with " + strings.TrimSpace(excuse) + " and why"})
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, x := range n.Lhs {
					r.written(x, root, tell)
				}
			}
		case *ast.IncDecStmt:
			r.written(n.X, root, tell)
		}
		return true
	})
}

// function tells of a function that is used.
func (r *reader) function(n *ast.Ident, fn *types.Func, tell func(ast.Node, offence)) {
	if fn.Pkg() == nil {
		return
	}
	switch path := fn.Pkg().Path(); {
	case path == "sync" || path == "sync/atomic":
		tell(n, offence{what: path + " is not seen by the fake", instead: "tasks share memory by fsfake.Cell, wait for each other by its Wait, and keep each other out by its CompareAndSwap, or by kit.Mutex"})
	case path == "maps" && strings.Contains(" All Keys Values ", " "+fn.Name()+" "):
		tell(n, offence{what: "maps." + fn.Name() + " has another order each time", instead: "sort it, by slices.Sorted"})
	case fn.Signature().Recv() == nil:
		for _, f := range families {
			if o, ok := f.of(fn); ok {
				tell(n, o)
				return
			}
		}
	}
	var d differs
	if fn.Pkg() != r.Pkg && r.ImportObjectFact(fn.Origin(), &d) {
		tell(n, offence{what: fn.Pkg().Name() + "." + fn.Name() + " differs from run to run, as in it " + d.Why, instead: "give it what it needs from the task", abroad: true})
	}
}

// sorts marks the functions of package maps whose outcome is sorted at once.
func (r *reader) sorts(call *ast.CallExpr, sorted map[ast.Node]bool) {
	fn, ok := typeutil.Callee(r.TypesInfo, call).(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "slices" || !strings.HasPrefix(fn.Name(), "Sorted") || len(call.Args) == 0 {
		return
	}
	if arg, ok := call.Args[0].(*ast.CallExpr); ok {
		if sel, ok := arg.Fun.(*ast.SelectorExpr); ok {
			sorted[sel.Sel] = true
		}
	}
}

func (r *reader) excused(n *ast.RangeStmt) bool {
	why, found := strings.CutPrefix(r.comments[r.lineOf(n)], excuse)
	return found && strings.TrimSpace(why) != ""
}

// written tells of a variable that is changed and not the function's own.
func (r *reader) written(x ast.Expr, root ast.Node, tell func(ast.Node, offence)) {
	id := r.variable(x)
	if id == nil {
		return
	}
	v, ok := r.TypesInfo.ObjectOf(id).(*types.Var)
	switch {
	case !ok || v.Pkg() == nil || v.IsField():
	case v.Parent() == v.Pkg().Scope():
		tell(id, offence{what: "the package variable " + v.Name() + " is written to, which all processes and all runs share", instead: "keep it in a file, or in an fsfake.Cell", abroad: true})
	case root != nil && (v.Pos() < root.Pos() || v.Pos() >= root.End()):
		tell(id, offence{what: v.Name() + " is declared outside of the program, so all processes and all runs share it", instead: "declare it inside, keep it in a file, or in an fsfake.Cell"})
	}
}

// variable is the variable that an expression is a part of, or nil.
func (r *reader) variable(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.SelectorExpr:
			x = e.X
			if r.TypesInfo.Selections[e] == nil { // another package's
				x = e.Sel
			}
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.Ident:
			return e
		default:
			return nil
		}
	}
}
