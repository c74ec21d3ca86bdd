package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A setup of which a call on owners, modes, times or locks fails is refused, whether it looks at the answer or not.
func TestPrepareRefusesWhatFails(t *testing.T) {
	for _, call := range []fsfake.Call{
		fsfake.CallChown, fsfake.CallLchown, fsfake.CallChmod, fsfake.CallUtimes, fsfake.CallLutimes,
		fsfake.CallFchown, fsfake.CallFchmod, fsfake.CallFutimes, fsfake.CallFlock,
	} {
		m := fsfake.New(fsfake.Options{})
		err := m.Prepare(func(m *fsfake.Machine) { m.Proc(1).Do(fsfake.Op{Call: call, Path: "/missing", FD: 77}) })
		require.ErrorContains(t, err, call.String())
	}
}
