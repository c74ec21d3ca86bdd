package explain

import (
	"fmt"
	"strings"

	"lockpick/checker/trace"
)

// lossText says what a loss of power did to the watched files.
func (s *story) lossText(st *trace.Walked) string {
	var parts []string
	for i := range st.After.Files {
		before, after := &s.files[i], &st.After.Files[i]
		name := s.names.Short(after.Path)
		switch {
		case before.Exists && !after.Exists:
			parts = append(parts, name+" was gone after that")
		case !before.Exists && after.Exists:
			parts = append(parts, s.called(after)+" was back after that")
		case before.Exists && before.ID != after.ID:
			parts = append(parts, name+" was "+s.inode(after.ID)+" again after that, not "+s.inode(before.ID))
		case before.Content != after.Content && after.Content == "":
			parts = append(parts, s.called(after)+" was empty after that")
		case before.Content != after.Content:
			parts = append(parts, s.called(after)+" had older contents after that")
		}
	}
	text := fmt.Sprintf("The power was lost at step %d", st.N)
	if len(parts) == 0 {
		return text + ", and the watched files stayed as they were."
	}
	return text + ", before all was synced: " + strings.Join(parts, "; ") + "."
}
