package trace

import (
	"regexp"
	"slices"

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
	section := regexp.MustCompile(`(?m)^## <a id="(LP\d+)"></a>LP\d+: (.+)\n\n(.+)\n\n- Smallest schedule: .+\n` +
		`- Fix: (.+)$`)
	for _, m := range section.FindAllStringSubmatch(docs.Causes, -1) {
		all = append(all, Kind{m[1], m[2], m[3], m[4]})
	}
	return all
}
