package site

import (
	"go/scanner"
	"go/token"
	"html/template"
	"strings"
)

// highlight renders Go source with its comments, strings and keywords marked. What is
// not Go comes out as it is.
func highlight(src string) template.HTML {
	if src == "" {
		return ""
	}
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	var b strings.Builder
	done := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		class := tokenClass(tok)
		if class == "" {
			continue
		}
		at := file.Offset(pos)
		end := at + len(lit)
		if end > len(src) || src[at:end] != lit { // a literal with a carriage return
			continue
		}
		b.WriteString(template.HTMLEscapeString(src[done:at]))
		b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(lit) + `</span>`)
		done = end
	}
	b.WriteString(template.HTMLEscapeString(src[done:]))
	return template.HTML(b.String()) //nolint:gosec // every piece of the source is escaped above
}

func tokenClass(t token.Token) string {
	switch {
	case t == token.COMMENT:
		return "c"
	case t == token.STRING, t == token.CHAR:
		return "s"
	case t.IsKeyword():
		return "k"
	}
	return ""
}
