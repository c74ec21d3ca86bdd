package fsfake

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Cell is a named variable in the memory of a process, shared by its tasks and by
// nobody else: a map of held locks, a reentrancy counter. Memory that a task keeps
// anywhere else is invisible to the machine; what tasks share must be in cells.
//
// Between threads every access is a scheduling point. Under an event loop the
// accesses between two system calls are one turn, which no other task can split.
//
// T must be made of booleans, numbers, strings, arrays and structs: values that are
// equal exactly when they print alike.
type Cell[T comparable] struct {
	// Name identifies the cell in its process.
	Name string
}

// Load returns the cell's value; before the first Store that is T's zero value.
func (c Cell[T]) Load(p *Proc) T {
	r := p.port.Do(Op{Call: CallCellLoad, Cell: c.Name})
	if r.Value == nil {
		var zero T
		return zero
	}
	return r.Value.(T)
}

// Store sets the cell's value.
func (c Cell[T]) Store(p *Proc, v T) {
	mustBePlain(reflect.TypeFor[T]())
	p.port.Do(Op{Call: CallCellStore, Cell: c.Name, Value: stored(v)})
}

// CompareAndSwap stores new if the cell's value is old, in one step, and reports whether it was.
// Between threads that is what keeps apart who looks and then stores: after Load another thread
// may store before Store does. It does not wait: a loop around it spins, which holds up an event
// loop for ever, and is to be marked between threads ([Proc.Retry]); let it Wait in each round.
func (c Cell[T]) CompareAndSwap(p *Proc, old, new T) bool {
	mustBePlain(reflect.TypeFor[T]())
	return p.port.Do(Op{Call: CallCellCAS, Cell: c.Name, Value: Swap{stored(old), stored(new)}}).N == 1
}

// A Swap is the operand of a compare-and-swap of a cell: what the cell must hold, and what it holds
// then. nil is the initial value, as everywhere in an [Op].
type Swap struct{ Old, New any }

// stored is a cell's value as the machine keeps it: the initial value has one representation, so
// that states merge.
func stored[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// Wait blocks until cond is true of the cell's value, and returns that value. cond
// must be a pure function.
func (c Cell[T]) Wait(p *Proc, cond func(T) bool) T {
	for {
		v := c.Load(p)
		if cond(v) {
			return v
		}
		p.port.Do(Op{Call: CallCellWait, Cell: c.Name, Value: stored(v)})
	}
}

// mustBePlain panics for a type whose equal values could print differently.
func mustBePlain(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func, reflect.Map, reflect.Slice:
		panic(fmt.Sprintf("fsfake: a cell cannot hold %s: use booleans, numbers, strings, arrays and structs", t))
	case reflect.Array:
		mustBePlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			mustBePlain(t.Field(i).Type)
		}
	}
}

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
