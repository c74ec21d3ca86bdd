package learn

import (
	"crypto/sha256"
	"fmt"
)

// A Fingerprint names something by its contents, so that it means the same in every process.
type Fingerprint [16]byte

// Fingerprint names a node, whose number depends on the order in which others were learned: by
// the results that lead there. A node is made on one way only, and what leads back to it comes
// from below it.
func (a *Automaton) Fingerprint(n uint32) Fingerprint {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fingerprint(n)
}

func (a *Automaton) fingerprint(n uint32) Fingerprint {
	if f, ok := a.fingerprints[n]; ok {
		return f
	}
	var text []byte
	if n <= Start {
		text = fmt.Appendf(text, "%d %d %d", a.process, a.n, n)
	} else {
		parent := a.fingerprint(a.nodes[n].parent)
		text = fmt.Appendf(parent[:], "%#v", *a.nodes[n].via)
	}
	sum := sha256.Sum256(text)
	f := Fingerprint(sum[:16])
	if a.fingerprints == nil {
		a.fingerprints = map[uint32]Fingerprint{}
	}
	a.fingerprints[n] = f
	return f
}
