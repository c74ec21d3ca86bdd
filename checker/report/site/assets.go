package site

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"lockpick/checker/report"
)

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
	h := head{Title: title, Root: root, Style: template.CSS(style), Script: template.JS(script)} //nolint:gosec // both are ours
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
