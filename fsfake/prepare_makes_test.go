package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A setup of which a call on owners, modes, times or locks fails is refused, whether it looks at the answer or not.
func TestPrepareRefusesWhatFails(t *testing.T) {
	const missing, closed = "/missing", 77
	for _, op := range []fsfake.Op{
		{Call: fsfake.CallChown, Path: missing}, {Call: fsfake.CallLchown, Path: missing}, {Call: fsfake.CallChmod, Path: missing},
		{Call: fsfake.CallUtimes, Path: missing}, {Call: fsfake.CallLutimes, Path: missing},
		{Call: fsfake.CallFchown, FD: closed}, {Call: fsfake.CallFchmod, FD: closed}, {Call: fsfake.CallFutimes, FD: closed},
		{Call: fsfake.CallFlock, FD: closed, Flags: fsfake.LOCK_EX}, {Call: fsfake.CallSetlk, FD: closed},
		{Call: fsfake.CallOFDSetlk, FD: closed},
	} {
		m := fsfake.New(fsfake.Options{})
		var errno error
		err := m.Prepare(func(m *fsfake.Machine) { errno = m.Proc(1).Do(op).Errno })
		require.Error(t, errno, op.Call)
		require.ErrorContains(t, err, "fsfake: "+op.String()+": ", op.Call)
	}
}
