package scenarios

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAlike(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		st   Setting
		want bool
	}{
		"nothing said":        {Setting{}, true},
		"roles":               {Setting{Fixed: true}, false},
		"a peer":              {Setting{Tasks: []int{2, 1}}, false},
		"a peer unsaid":       {Setting{Tasks: []int{2}}, false},
		"threads each":        {Setting{Tasks: []int{2, 2}}, true},
		"one starts a thread": {Setting{Tasks: []int{2, 2}, Running: []int{1}}, false},
		"users":               {Setting{Users: []int{1000, 1001}}, false},
		"one user":            {Setting{Users: []int{1000, 1000}}, true},
		"a container":         {Setting{Containers: []int{0, 1}}, false},
		"clocks":              {Setting{Skew: []time.Duration{0, time.Minute}}, false},
		"one handler":         {Setting{Handlers: []int{1}}, false},
		"all have handlers":   {Setting{Handlers: []int{0, 1}}, true},
		"one is mortal":       {Setting{Crashes: 1, Mortal: []int{0}}, false},
		"one is punctual":     {Setting{Punctual: []int{0}}, false},
		"starts after":        {Setting{PowerLosses: 1, Reboot: []int{1}}, false},
	} {
		c.st.Processes = 2
		require.Equal(t, c.want, c.st.Alike(), what)
	}
}

// A list of a setting that has a value for each process, or names some, is seen by Alike.
func TestAlikeSeesEachList(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[Setting]().NumField() {
		st := Setting{Processes: 2}
		list := reflect.ValueOf(&st).Elem().Field(i)
		name := reflect.TypeFor[Setting]().Field(i).Name
		if list.Kind() != reflect.Slice || name == "FailWith" { // which is about calls
			continue
		}
		list.Set(reflect.MakeSlice(list.Type(), 2, 2))
		list.Index(1).SetInt(2)
		require.False(t, st.Alike(), "%s: make its row in fields.go with perProcess or someOf", name)
	}
}
