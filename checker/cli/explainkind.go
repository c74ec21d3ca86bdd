package cli

import (
	"fmt"
	"regexp"
	"strings"

	"lockpick/checker/trace"
	"lockpick/docs"
)

var kindID = regexp.MustCompile(`^(?i:LP)\d+$`)

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
	_, err := fmt.Fprintln(a.stdout, docs.Cause(kind.ID))
	return err
}
