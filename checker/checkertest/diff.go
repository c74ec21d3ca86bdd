package checkertest

import "strings"

// diff shows how two texts differ, from the first line that does to the last: what was there with a minus, and what is
// there now with a plus, between up to three lines that both have, with a blank. Equal texts give "". Lines of a trace
// begin with their step, so behind a step more all differ anyway.
func diff(was, now []string) string {
	from, same := 0, 0
	for from < min(len(was), len(now)) && was[from] == now[from] {
		from++
	}
	for same < min(len(was), len(now))-from && was[len(was)-1-same] == now[len(now)-1-same] {
		same++
	}
	removed, added := was[from:len(was)-same], now[from:len(now)-same]
	if len(removed)+len(added) == 0 {
		return ""
	}
	var lines []string
	add := func(sign string, of []string) {
		for _, l := range of {
			lines = append(lines, sign+l)
		}
	}
	add("  ", was[max(0, from-3):from])
	add("- ", removed)
	add("+ ", added)
	add("  ", was[len(was)-same:][:min(same, 3)])
	return strings.Join(lines, "\n")
}
