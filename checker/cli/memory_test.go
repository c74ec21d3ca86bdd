package cli

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// The reserve is no memory that a search may take, and is left out where the environment says when
// to collect garbage.
func TestReserve(t *testing.T) {
	for _, tt := range []struct {
		name, set string
		mib       int64
	}{{"plain", "", reserved}, {"GOGC", "GOGC", 0}, {"GOMEMLIMIT", "GOMEMLIMIT", 0}} {
		t.Run(tt.name, func(t *testing.T) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
			a := &app{env: func(name string) string {
				if name == tt.set {
					return "100"
				}
				return ""
			}}
			a.reserve()
			require.Len(t, a.untouched, int(tt.mib)<<20)
			a.limitMemory(1000)
			require.Equal(t, (1000+ownMemory+tt.mib)<<20, debug.SetMemoryLimit(-1))
		})
	}
}
