package trace

import (
	"slices"
	"strings"

	"lockpick/docs"
)

// A Kind is a kind of cause, by what goes wrong and what is done about it. Its id stays the same from version to
// version: reports, SARIF and acceptances name it. Kinds are read from docs/causes.md, which has a section for each.
type Kind struct {
	// ID is "LP1002"; Name a few words, Says what happens, Fix what to change, each a sentence.
	ID, Name, Says, Fix string
}

// Unexplained is the id of the kind that a cause has when nothing better is known.
const Unexplained = "LP1099"

// KindOf returns the kind that has an id; false when none has.
func KindOf(id string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.ID == id })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// Kinds lists all kinds of causes, in the order of their ids.
func Kinds() []Kind { return slices.Clone(kinds) }

var kinds = readKinds()

// readKinds reads the sections of the page: title, what happens, the smallest schedule, and the fix.
func readKinds() (all []Kind) {
	for _, section := range strings.Split(docs.Causes, "\n## <a id=\"")[1:] {
		lines := strings.Split(section, "\n")
		id, _, _ := strings.Cut(lines[0], `"`)
		if _, name, is := strings.Cut(lines[0], "</a>"+id+": "); is {
			all = append(all, Kind{id, name, lines[2], strings.TrimPrefix(lines[5], "- Fix: ")})
		}
	}
	return all
}
