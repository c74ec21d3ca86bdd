// Package fsfake stands for the real one.
package fsfake

type Machine struct{}

type Proc struct{}

func (p *Proc) Now() int { return 0 }
