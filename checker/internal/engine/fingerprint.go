package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"lockpick/checker/internal/learn"
)

// A Namer names states by their contents. The numbers that a state consists of mean something
// in one space only; its fingerprint means the same in every process that runs the same program
// on the same scenario. It remembers the fingerprints of the parts. It is for one goroutine.
type Namer struct {
	x         *Space
	question  learn.Fingerprint // the scenario, its setting and the property
	machines  map[uint32]learn.Fingerprint
	histories map[uint32]learn.Fingerprint
	nodes     []map[uint32]learn.Fingerprint // by slot
	text      []byte
}

// NewNamer returns a namer of the states of a space.
func NewNamer(x *Space) *Namer {
	n := &Namer{
		x: x, question: sum([]byte(x.Sc.ID + "\n" + x.Property.ID + "\n" + x.Sc.Setting.Format())), machines: map[uint32]learn.Fingerprint{}, histories: map[uint32]learn.Fingerprint{},
		nodes: make([]map[uint32]learn.Fingerprint, len(x.Slots)),
	}
	for i := range n.nodes {
		n.nodes[i] = map[uint32]learn.Fingerprint{}
	}
	return n
}

// Name returns the fingerprint of a state, and of one word more that goes with it.
func (n *Namer) Name(row []uint32, with uint32) learn.Fingerprint {
	b := n.text[:0]
	add := func(f learn.Fingerprint) { b = append(b, f[:]...) }
	add(n.question) // without it, states of two programs would be one until they are told different things
	add(named(n.machines, row[wordMachine], n.machine))
	add(named(n.histories, row[WordHistory], n.history))
	for i := range n.x.Slots {
		word := row[wordNodes+i]
		add(named(n.nodes[i], word&^learn.Begun, n.x.automata[i].Fingerprint))
		b = append(b, byte(word>>31))
	}
	b = binary.BigEndian.AppendUint32(b, row[len(row)-1]) // the budgets
	b = binary.BigEndian.AppendUint32(b, with)
	n.text = b
	return sum(b)
}

// Chain returns what names a chain of states that goes on with one more. It also depends on which
// call each task makes next in that, so that it is another when the programs are.
func (n *Namer) Chain(before learn.Fingerprint, row []uint32) learn.Fingerprint {
	name := n.Name(row, 0)
	b := append(before[:], name[:]...)
	for i := range n.x.Slots {
		b = fmt.Appendf(b, "%#v", n.x.op(row, i))
	}
	return sum(b)
}

func (n *Namer) machine(id uint32) learn.Fingerprint { return sum(n.x.machines.key(id)) }

func named(known map[uint32]learn.Fingerprint, id uint32, name func(uint32) learn.Fingerprint) learn.Fingerprint {
	f, ok := known[id]
	if !ok {
		f = name(id)
		known[id] = f
	}
	return f
}

func sum(b []byte) learn.Fingerprint {
	h := sha256.Sum256(b)
	return learn.Fingerprint(h[:16])
}

func (n *Namer) history(id uint32) learn.Fingerprint { return n.x.Histories.Fingerprint(id) }
