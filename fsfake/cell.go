package fsfake

import (
	"fmt"
	"reflect"
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
