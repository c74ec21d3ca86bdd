package bruteforce

import "math/rand/v2"

// What is asked of a protocol that is drawn.

// decided says by which operation's answer a property can be violated.
var decided = map[string]string{"owner-info": OpWho, "lost-update": OpContains, "torn-read": OpRead, "duplicate": OpAppend}

// ask asks for properties, each once.
func (d *drawer) ask(properties ...string) {
	for _, p := range properties {
		known := false
		for _, q := range d.p.Ask {
			known = known || p == q
		}
		if !known {
			d.p.Ask = append(d.p.Ask, p)
		}
	}
}

// ends sometimes asks what there is when everybody has ended: whether somebody gets in soon, and
// whether anything is left.
func (d *drawer) ends(r *rand.Rand) {
	if d.p.Probe != nil && r.IntN(4) == 0 {
		within := []string{"500ms", "30s", "59s", "60s", "61s", "90m"}
		d.ask("wedge-within-" + within[r.IntN(len(within))])
	}
	if r.IntN(6) == 0 {
		d.ask("left-behind")
	}
}

// serial sometimes asks whether runs end as serial ones, where that can be asked.
func (d *drawer) serial(r *rand.Rand) {
	if !d.p.Daemons && d.p.Signals == 0 && d.p.Failing == 0 && r.IntN(3) == 0 {
		d.ask("serializable")
	}
}
