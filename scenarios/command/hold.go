package command

import (
	"context"
	"errors"

	"lockpick/scenarios"
)

// A Held is the commands while they stand still after some steps on the real kernel.
type Held struct {
	// Dir is the real directory that they work in.
	Dir string
	// Processes has the real pid of each command's first process, or 0 where it has ended or takes no part.
	Processes []int
}

// Hold carries out steps as [Spec.Carry] does, and calls f when the commands stand still after the last. The directory
// and the processes are there until f returns. Where the kernel answers otherwise, f is not called.
func (s Spec) Hold(ctx context.Context, steps []Step, f func(Held) error) error {
	c := carrier{held: f}
	carried := c.asked(ctx, s, steps, nil, false)
	if c.heldError != nil || carried.Confirmed() {
		return c.heldError
	}
	return errors.New(carried.String())
}

// hold shows the commands at rest.
func (c *carrier) hold() error {
	h := Held{Dir: c.root + c.spec.Dir}
	for i, r := range c.runs {
		pid := 0
		if r.Run != nil {
			if _, err := r.Next(); err != nil { // the last call has done all that it does
				return err
			}
			pid = r.Real(scenarios.Pid(i))
		}
		h.Processes = append(h.Processes, pid)
	}
	c.heldError = c.held(h)
	return nil
}
