package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lockpick/internal/golden"
)

// A sentence of a message has at most so many words: a longer one has to be read twice.
const mostWords = 25

// The messages of all errors stand in one file, so that a reader can judge them all: what happened, why,
// what to do next. No sentence of them is long.
func TestMessages(t *testing.T) {
	messages := map[string][]string{}
	eachSource(t, func(name string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		messages[path.Dir(name)] = append(messages[path.Dir(name)], messagesOf(file)...)
	})
	var out strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(messages)) {
		list := messages[dir]
		slices.Sort(list)
		for i, message := range slices.Compact(list) {
			if i == 0 {
				fmt.Fprintf(&out, "\n# %s\n", dir)
			}
			fmt.Fprintln(&out, message)
			for _, sentence := range sentences.Split(message, -1) {
				assert.LessOrEqual(t, len(strings.Fields(sentence)), mostWords,
					"%s: a sentence of more than %d words; make it two:\n%s", dir, mostWords, sentence)
			}
		}
	}
	golden.Check(t, "messages.txt", out.String())
}

// The end of a sentence, or of a clause that is one of its own.
var sentences = regexp.MustCompile(`[.;:?!] |\n| \(|\) `)

// messagesOf is the texts that file gives to errors.
func messagesOf(file *ast.File) []string {
	var messages []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if fun, ok := call.Fun.(*ast.SelectorExpr); ok {
			if of, ok := fun.X.(*ast.Ident); ok && slices.Contains(
				[]string{"fmt.Errorf", "errors.New"}, of.Name+"."+fun.Sel.Name) {
				if text := literal(call.Args[0]); text != "" {
					messages = append(messages, text)
				}
			}
		}
		return true
	})
	return messages
}

// literal is the text that e spells out; what it does not is "…".
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return "…"
}
