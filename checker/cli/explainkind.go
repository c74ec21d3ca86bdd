package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/docs"
)

var (
	kindID    = regexp.MustCompile(`^(?i:LP)\d+$`)
	pageLink  = regexp.MustCompile(`\[([^\]]+)\]\(#([\w-]+)\)`)
	pageTitle = regexp.MustCompile(`(?m)^## <a id="([\w-]+)"></a>`)
)

// explainKind prints the page of a kind of cause, and the right code that it points to.
func (a *app) explainKind(id string) error {
	kind, ok := trace.KindOf(strings.ToUpper(id))
	if !ok {
		var ids []string
		for _, k := range trace.Kinds() {
			ids = append(ids, k.ID)
		}
		return fmt.Errorf("there is no kind of cause %s: choose %s", id, strings.Join(ids, ", "))
	}
	text := pageSection(kind.ID)
	var shown []string
	for _, link := range pageLink.FindAllStringSubmatch(text, -1) {
		if to := pageSection(link[2]); to != "" && !slices.Contains(shown, to) {
			shown = append(shown, to)
		}
	}
	all := strings.Join(append([]string{text}, shown...), "\n\n")
	_, err := fmt.Fprintln(a.stdout, pageLink.ReplaceAllString(pageTitle.ReplaceAllString(all, "## "), "$1"))
	return err
}

// pageSection is a section of the page on causes; empty where there is none.
func pageSection(id string) string {
	_, text, _ := strings.Cut(docs.Causes, fmt.Sprintf("## <a id=%q></a>", id))
	end := len(text)
	if at := regexp.MustCompile(`(?m)^##? `).FindStringIndex(text); at != nil {
		end = at[0]
	}
	if text == "" {
		return ""
	}
	return "## " + strings.TrimSpace(text[:end])
}
