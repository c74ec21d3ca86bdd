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
	var zero T
	if v == zero { // one representation of the initial value, so that states merge
		p.port.Do(Op{Call: CallCellStore, Cell: c.Name})
		return
	}
	p.port.Do(Op{Call: CallCellStore, Cell: c.Name, Value: v})
}

// Wait blocks until cond is true of the cell's value, and returns that value. cond
// must be a pure function.
func (c Cell[T]) Wait(p *Proc, cond func(T) bool) T {
	for {
		v := c.Load(p)
		if cond(v) {
			return v
		}
		var seen any
		var zero T
		if v != zero {
			seen = v
		}
		p.port.Do(Op{Call: CallCellWait, Cell: c.Name, Value: seen})
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
