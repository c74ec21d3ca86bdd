package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/numbers"
)

// heading stands above the first page.
const heading = "File locks under every schedule"

// Write writes the site into a directory, which is made when it is not there: the first
// page is index.html, and says with which flags. Made stands at the foot of each page. It fails when a file
// cannot be written.
func Write(dir string, results []checker.Result, o report.Options) error {
	w := &writer{dir: dir}
	systems := bySystem(results)
	w.page("index.html", "index.html.tmpl", newIndex(systems, report.Properties(results), o))
	for _, sys := range systems {
		for _, row := range sys.Rows {
			w.page(row.File, "scenario.html.tmpl", newPage(sys, row, o))
		}
	}
	return w.err
}

// A writer writes files until the first that fails.
type writer struct {
	dir string
	err error
}

func (w *writer) file(name string, data []byte) {
	if w.err != nil {
		return
	}
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.err = os.MkdirAll(filepath.Dir(full), 0o777); w.err == nil {
		w.err = os.WriteFile(full, data, 0o666)
	}
}

func (w *writer) page(name, tmpl string, view any) {
	if w.err != nil {
		return
	}
	t, err := template.New(tmpl).Funcs(functions()).
		ParseFS(assets, "assets/parts.html.tmpl", "assets/"+tmpl)
	if err != nil {
		w.err = fmt.Errorf("site: %w", err)
		return
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		w.err = fmt.Errorf("site: %s: %w", name, err)
		return
	}
	w.file(name, b.Bytes())
}

// fileOf is the name of a scenario's page: letters, digits and a few signs stand for
// themselves, the rest is escaped, so that different ids never share a page.
func fileOf(id string) string {
	var b strings.Builder
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '+':
			b.WriteRune(r)
		case r == '/':
			b.WriteByte('.')
		default:
			fmt.Fprintf(&b, "_%x_", r)
		}
	}
	return b.String() + ".html"
}

// functions are what the templates call.
func functions() template.FuncMap {
	return template.FuncMap{
		"grouped": grouped,
		"inc":     func(n int) int { return n + 1 },
		"pair": func(id string, s state) any {
			return struct {
				ID    string
				State *state
			}{id, &s}
		},
	}
}

// count renders "1 process", "2 processes".
func count(n int, one, many string) string {
	return grouped(n) + strings.TrimPrefix(numbers.Count(n, one, many), numbers.Number(n))
}

// grouped renders a number with a narrow space, where no line breaks, between groups of
// digits.
func grouped(n int) string { return strings.ReplaceAll(numbers.Number(n), " ", "\u202f") }

//go:embed assets
var assets embed.FS

func asset(name string) string {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(data)
}

// A head is what every page has in its head: one style, at most one script, and a
// policy that allows exactly those.
type head struct {
	Title  string
	Style  template.CSS
	Script template.JS
	Policy string
	// Root leads from the page to the directory of index.html.
	Root string
	// Made stands at the foot of the page.
	Made report.Made
}

func newHead(title, root, extraStyle, script string) head {
	style := asset("site.css") + extraStyle
	//nolint:gosec // both are ours
	h := head{Title: title, Root: root, Style: template.CSS(style), Script: template.JS(script)}
	h.Policy = "default-src 'none'; style-src " + digest(style)
	if script != "" {
		h.Policy += "; script-src " + digest(script)
	}
	h.Policy += "; base-uri 'none'; form-action 'none'"
	return h
}

// digest is how a policy names an inline style or script.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
}
