package fsfake

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A cell is a variable in a process's memory. The initial value is no value at all.
type cell struct {
	name  string
	value any
	key   string // the value as it goes into the machine's key
}

func (p *proc) cellAt(name string) (int, bool) {
	return slices.BinarySearchFunc(p.cells, name, func(c cell, s string) int { return strings.Compare(c.name, s) })
}

func (p *proc) cell(name string) any {
	if i, ok := p.cellAt(name); ok {
		return p.cells[i].value
	}
	return nil
}

// waitCell waits until a cell has another value.
func (m *Machine) waitCell(p *proc, t Task, op *Op) Result {
	if p.cell(op.Cell) != op.Value {
		return Result{}
	}
	return m.block(p, t, op, 0)
}

// swapCell stores a value if the cell holds the one that is expected. A swap that fails is a look
// that does not even tell what is there.
func (m *Machine) swapCell(p *proc, op *Op, r *Result) {
	swap, _ := op.Value.(Swap)
	if p.cell(op.Cell) == swap.Old {
		m.storeCell(p, op.Cell, swap.New)
		r.N = 1
	}
}

func (m *Machine) storeCell(p *proc, name string, v any) {
	i, ok := p.cellAt(name)
	if ok && p.cells[i].value == v || !ok && v == nil {
		return
	}
	p = m.mutProc(p.pid)
	switch {
	case v == nil:
		p.cells = remove(p.cells, i)
	case ok:
		p.cells = slices.Clone(p.cells)
		p.cells[i] = cell{name, v, string(appendValue(nil, v))}
	default:
		p.cells = insert(p.cells, i, cell{name, v, string(appendValue(nil, v))})
	}
	m.version++
}

// printed is the first byte of a value that is a user's own type.
const printed = 4

// appendValue appends a cell's value: its type, and what it prints as, which differ
// when the values do.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 0)
	case bool:
		if v {
			return append(b, 1, 1)
		}
		return append(b, 1, 0)
	case int:
		return binary.AppendVarint(append(b, 2), int64(v))
	case string:
		return appendString(append(b, 3), v)
	}
	return appendString(append(b, printed), fmt.Sprintf("%T %#v", v, v))
}
