// Package docs holds the pages of the documentation that the command prints.
package docs

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Causes is causes.md: a section for each kind of cause, and right code.
//
//go:embed causes.md
var Causes string

var (
	pageLink  = regexp.MustCompile(`\[([^\]]+)\]\(#([\w-]+)\)`)
	pageTitle = regexp.MustCompile(`(?m)^## <a id="([\w-]+)"></a>`)
	pageStart = regexp.MustCompile(`(?m)^##? `)
)

// Cause is the page of a kind of cause, "LP1002", and the right code that it points to, as Markdown that needs no other
// page; empty where there is none.
func Cause(id string) string {
	text := section(id)
	shown := []string{text}
	for _, link := range pageLink.FindAllStringSubmatch(text, -1) {
		if to := section(link[2]); to != "" && !slices.Contains(shown, to) {
			shown = append(shown, to)
		}
	}
	return pageLink.ReplaceAllString(pageTitle.ReplaceAllString(strings.Join(shown, "\n\n"), "## "), "$1")
}

// section is a section of the page on causes; empty where there is none.
func section(id string) string {
	_, text, _ := strings.Cut(Causes, fmt.Sprintf("## <a id=%q></a>", id))
	end := len(text)
	if at := pageStart.FindStringIndex(text); at != nil {
		end = at[0]
	}
	if text == "" {
		return ""
	}
	return "## " + strings.TrimSpace(text[:end])
}
