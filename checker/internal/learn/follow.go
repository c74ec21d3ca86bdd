package learn

import "lockpick/fsfake"

// A guide is asked at each call of a program that is followed: at op, or at the program's end
// when more is false. It returns the result of the call, which must stay as it is until the
// guide is asked again, or nil where the program is to wait. op and notes are valid until it
// returns.
type guide func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error)

// Follow gives a program the result r, or starts it where r is nil, and then the results that
// guide has for its calls, until it has none. The program waits in the call after that, or has
// ended. The error is the guide's or the program's.
//
// A Go function asks the guide on its own goroutine. It is the same thread of control, for
// whoever follows waits meanwhile, but there is no switch to and fro at each of millions of calls.
func Follow(code Code, r *fsfake.Result, guide guide) error {
	if f, ok := code.(*function); ok {
		return f.follow(r, guide)
	}
	for {
		if r != nil {
			if err := code.Answer(*r); err != nil {
				return err
			}
		}
		op, more, notes, err := code.Next()
		if err != nil {
			return err
		}
		if r, err = guide(&op, more, notes); r == nil || err != nil {
			return err
		}
	}
}

// follow is [Follow] for a Go function.
func (f *function) follow(r *fsfake.Result, guide guide) error {
	if r != nil {
		f.told = r
	}
	f.guide, f.lost, f.broke = guide, nil, nil
	more, err := f.turn()
	ended := f.guide != nil
	f.guide = nil
	switch {
	case f.broke != nil:
		panic(f.broke)
	case err != nil:
		return err
	case ended && !more:
		_, err = guide(&f.last, false, f.notes)
		return err
	}
	return f.lost
}

// guided has the guide answer the call that was made last. It reports false where the program is
// to wait in it. What the guide panics with is for whoever follows, and not for the program, which
// might recover from it.
func (f *function) guided() (answered bool) {
	defer func() {
		if !answered {
			f.guide, f.broke = nil, recover()
		}
	}()
	r, err := f.guide(&f.last, true, f.notes)
	if r == nil || err != nil {
		f.lost = err
		return false
	}
	f.told = r
	f.notes = f.notes[:0]
	f.again() // for the watchdog it is a turn like any other
	f.state.Store(running)
	return true
}
