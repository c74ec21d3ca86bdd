package site

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// drawnRuns is how many runs are drawn to see which functions of a protocol make its calls.
const drawnRuns = 20

// madeIn returns the functions of a scenario's source that make its calls, in the order of the
// source, with an empty line between them, and which of these lines make calls. It is nil when
// the source is no single Go file, or the calls are made elsewhere.
func madeIn(sc *scenarios.Scenario, p *scenarios.Property) (text []string, calls []bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", sc.Source, parser.ParseComments)
	if err != nil {
		return nil, nil
	}
	making := callLines(sc, p, file.Name.Name)
	// A source that is a part of its file begins with a line directive, which says where the part stands in there.
	if len(file.Decls) > 0 {
		at := file.Decls[len(file.Decls)-1].Pos()
		for i := range making {
			making[i] += fset.PositionFor(at, false).Line - fset.PositionFor(at, true).Line
		}
	}
	var parts [][2]int
	for _, n := range making {
		from, to := functionAround(fset, file, n)
		if from == 0 {
			return nil, nil
		}
		if !slices.Contains(parts, [2]int{from, to}) {
			parts = append(parts, [2]int{from, to})
		}
	}
	slices.SortFunc(parts, func(a, b [2]int) int { return a[0] - b[0] })
	all := strings.Split(visibleSource(sc.Source), "\n")
	end := 0
	for _, part := range parts {
		if part[1] <= end { // within the one before
			continue
		}
		if len(text) > 0 {
			text, calls = append(text, ""), append(calls, false)
		}
		text = append(text, unindented(all[part[0]-1:part[1]])...)
		for n := part[0]; n <= part[1]; n++ {
			calls = append(calls, slices.Contains(making, n))
		}
		end = part[1]
	}
	return text, calls
}

// callLines are the lines that make calls, in a few drawn runs, in the file of a package; none
// when they stand in several files of it.
func callLines(sc *scenarios.Scenario, p *scenarios.Property, pkg string) []int {
	runner, err := checker.NewRunner(sc, p)
	if err != nil || sc.Expensive() {
		return nil
	}
	var lines []int
	file := ""
	for seed := range uint64(drawnRuns) {
		ran, err := runner.Run(sched.NewRandom(seed), true)
		if err != nil {
			continue
		}
		for _, st := range ran.Trace {
			for _, c := range st.Calls {
				name := path.Base(c.Source.File)
				switch {
				case !strings.HasPrefix(c.Source.Func, pkg+"."):
				case file != "" && name != file:
					return nil
				case !slices.Contains(lines, c.Source.Line):
					file, lines = name, append(lines, c.Source.Line)
				}
			}
		}
	}
	return lines
}

// functionAround is the innermost function around a line, from its comment on; 0 for none.
func functionAround(fset *token.FileSet, file *ast.File, line int) (from, to int) {
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		a, b := fset.PositionFor(n.Pos(), false).Line, fset.PositionFor(n.End(), false).Line
		if line < a || line > b {
			return false
		}
		switch f := n.(type) {
		case *ast.FuncDecl:
			from, to = a, b
			if f.Doc != nil {
				from = fset.PositionFor(f.Doc.Pos(), false).Line
			}
		case *ast.FuncLit:
			if a < b { // more than one line: it can be read alone
				from, to = a, b
			}
		}
		return true
	})
	return from, to
}

// unindented takes the tabs away that all lines begin with.
func unindented(lines []string) []string {
	least := -1
	for _, l := range lines {
		if n := len(l) - len(strings.TrimLeft(l, "\t")); l != "" && (least < 0 || n < least) {
			least = n
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if l != "" {
			out[i] = l[least:]
		}
	}
	return out
}
