package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/fsfake"
)

// Every field of a Setting has a row in the table, so that no bundle, no file of a shard
// and no command forgets it.
func TestNoFieldIsForgotten(t *testing.T) {
	lost := forgotten(t, func(s Setting) Setting {
		back, err := ParseSetting(s.Format())
		require.NoError(t, err)
		return back
	})
	for _, name := range lost {
		t.Errorf("scenarios: the field Setting.%s is lost on its way through Setting.Format and ParseSetting: give it a row in Fields (scenarios/fields.go)", name)
	}
}

// The test above has teeth.
func TestForgottenFieldsAreNamed(t *testing.T) {
	require.Equal(t, []string{"StallFor", "Machine.Umask"}, forgotten(t, func(s Setting) Setting {
		s.StallFor, s.Machine.Umask = 0, 0
		return s
	}))
}

// forgotten lists the fields that do not come back from a trip, by name.
func forgotten(t *testing.T, trip func(Setting) Setting) []string {
	var lost []string
	for _, index := range leaves(reflect.TypeFor[Setting]()) {
		s := Setting{Processes: 2}
		v := reflect.ValueOf(&s).Elem()
		name := ""
		for i, k := range index {
			f := v.Type().Field(k)
			name += [...]string{"", "."}[min(i, 1)] + f.Name
			v = v.Field(k)
		}
		sample(t, name, v)
		back := trip(s)
		if !reflect.DeepEqual(reflect.ValueOf(back).FieldByIndex(index).Interface(), v.Interface()) {
			lost = append(lost, name)
		}
	}
	return lost
}

// leaves lists the fields of a struct and of the structs in it.
func leaves(t reflect.Type) [][]int {
	var out [][]int
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() != reflect.Struct || f.Type == reflect.TypeFor[time.Time]() {
			out = append(out, []int{i})
			continue
		}
		for _, below := range leaves(f.Type) {
			out = append(out, append([]int{i}, below...))
		}
	}
	return out
}

// sample gives a field a value that is legal and not zero.
func sample(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *int:
		*x = 1
	case *bool:
		*x = true
	case *time.Duration:
		*x = 48 * time.Hour
	case *time.Time:
		*x = time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	case *[]int:
		*x = []int{1, 2}
	case *[]time.Duration:
		*x = []time.Duration{0, -90 * time.Second}
	case *[]syscall.Errno:
		*x = []syscall.Errno{fsfake.ENOSPC, fsfake.EIO}
	default:
		switch v.Kind() {
		case reflect.Uint8, reflect.Uint32:
			v.SetUint(1)
		default:
			t.Fatalf("Setting.%s has the type %s: teach this test a sample of it", name, v.Type())
		}
	}
}

// settings draws settings that are valid.
func settings() *rapid.Generator[Setting] {
	return rapid.Custom(func(t *rapid.T) Setting {
		n := rapid.IntRange(1, MaxProcesses).Draw(t, "processes")
		some := func(name string) []int {
			list := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, name)
			if len(list) == 0 && rapid.Bool().Draw(t, name+" is nil") {
				return nil
			}
			return list
		}
		st := Setting{
			Processes: n,
			Fixed:     rapid.Bool().Draw(t, "fixed"), Interchangeable: rapid.Bool().Draw(t, "interchangeable"),
			Crashes: rapid.IntRange(0, MaxProcesses).Draw(t, "crashes"), Mortal: some("mortal"),
			Stalls:       rapid.IntRange(0, MaxStalls).Draw(t, "stalls"),
			StallFor:     time.Duration(rapid.Int64Range(1, int64(maxJump/MaxStalls)).Draw(t, "stall for")),
			Punctual:     rapid.SampledFrom([][]int{nil, {0}, {n - 1}}).Draw(t, "punctual"),
			Daemons:      rapid.Bool().Draw(t, "daemons"),
			Containers:   rapid.SampledFrom([][]int{nil, slices.Repeat([]int{1}, n)}).Draw(t, "containers"),
			Skew:         rapid.SampledFrom([][]time.Duration{nil, slices.Repeat([]time.Duration{-90 * time.Second}, n)}).Draw(t, "skew"),
			FailingCalls: rapid.IntRange(0, MaxFailingCalls).Draw(t, "failing calls"),
			FailWith:     rapid.SampledFrom([][]syscall.Errno{nil, {fsfake.EIO}, fsfake.FailingErrnos()}).Draw(t, "fail with"),
			Concurrency:  rapid.SampledFrom([]Concurrency{EventLoop, Threads}).Draw(t, "concurrency"),
			Machine: fsfake.Options{
				InodeNumbers: rapid.SampledFrom([]fsfake.InodePolicy{fsfake.InodesCanonical, fsfake.InodesReuse, fsfake.InodesUnique}).Draw(t, "inodes"),
				Umask:        rapid.SampledFrom([]uint32{0, 0o077, 0o777, fsfake.NoUmask}).Draw(t, "umask"),
				PowerLoss:    rapid.Bool().Draw(t, "durability"),
			},
		}
		if rapid.Bool().Draw(t, "start given") {
			st.Machine.Start = time.Unix(0, rapid.Int64Range(0, 4e18).Draw(t, "start")).UTC()
		}
		if st.Punctual == nil && rapid.Bool().Draw(t, "set back") {
			st.StallFor = -st.StallFor
		}
		if rapid.Bool().Draw(t, "tasks given") {
			st.Tasks = rapid.SliceOfN(rapid.IntRange(1, 2), n, n).Draw(t, "tasks")
		}
		if rapid.Bool().Draw(t, "power") {
			if st.PowerLosses = 1; n > 1 {
				st.Reboot = rapid.SampledFrom([][]int{nil, {0}, {n - 1}}).Draw(t, "reboot")
			}
		}
		return st
	})
}

// Text and back is the same setting, whatever stood there before.
func TestSettingRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := settings().Draw(t, "setting")
		if err := st.validate(); err != nil {
			t.Fatalf("%v", err)
		}
		back, err := ParseSetting(st.Format())
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !reflect.DeepEqual(back, st) {
			t.Fatalf("%+v\nis not\n%+v", back, st)
		}
		other := settings().Draw(t, "another")
		for _, f := range Fields() {
			if err := f.Set(&other, f.Text(&st)); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if !reflect.DeepEqual(other, st) || len(other.Changed(st)) > 0 {
			t.Fatalf("field by field: %v", other.Changed(st))
		}
	})
}

func TestSettingInWords(t *testing.T) {
	st := Setting{Processes: 3}
	require.Equal(t, "3 processes", st.String())
	require.Equal(t, "processes 3\ncrashes 0\nstalls 0\n", st.Format())
	st = Setting{Processes: 1, Tasks: []int{2}, Crashes: 1, Stalls: 2, StallFor: 48 * time.Hour, PowerLosses: 1}
	require.Equal(t, "1 process, 2 tasks, up to 1 crash, up to 2 stalls, up to 1 power loss", st.String())
	require.Equal(t, "processes 1\ntasks 2\ncrashes 1\nstalls 2\nstall-for 48h0m0s\npower-losses 1\n", st.Format())
	changed := st.Changed(Setting{Processes: 1, Tasks: []int{2}, Stalls: 1, StallFor: time.Hour, Mortal: []int{0}})
	require.Equal(t, "[crashes 1, not 0 mortal all, not A stalls 2, not 1 stall-for 48h0m0s, not 1h0m0s power-losses 1, not 0]", fmt.Sprint(changed))
	st = Setting{Processes: 3, Stalls: 1, StallFor: time.Hour, Punctual: []int{0, 2}}
	require.Equal(t, "3 processes, up to 1 stall, A and C punctual", st.String())
	require.Equal(t, "processes 3\ncrashes 0\nstalls 1\nstall-for 1h0m0s\npunctual A,C\n", st.Format())
	require.Equal(t, "up to 1, of 1h; A and C are never delayed", tellStalls(&st))
	// How far nothing jumps does not matter, nor who cannot be killed anyway.
	require.Empty(t, Setting{Processes: 2, StallFor: time.Hour, Mortal: []int{1}, Punctual: []int{0}}.Changed(Setting{Processes: 2}))
}

func TestParseSettingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"threads 2":                `a setting has no field "threads"`,
		"crashes 1\ncrashes 1":     `names the field "crashes" twice`,
		"processes 27":             "processes 27: choose 1 to 26",
		"processes two":            "processes two: choose 1 to 26",
		"processes":                "processes : choose 1 to 26",
		"crashes 65536":            "crashes 65536: choose 0 to 26",
		"stalls 32768":             "stalls 32768: choose 0 to 1000",
		"stalls -1":                "stalls -1: choose 0 to 1000",
		"stall-for 0s":             "stall-for 0s: choose a time such as 90s, 48h or -1h, not 0",
		"stall-for 900000h":        "stall-for 900000h: choose a time",
		"power-losses 2":           "power-losses 2: choose 0 to 1",
		"mortal A,b":               "mortal A,b: choose processes from A to Z",
		"tasks 1,65":               "tasks 1,65: choose 1 to 64",
		"daemons 1":                "daemons 1: choose yes or no",
		"concurrency none":         "concurrency none: choose one of event-loop, threads",
		"umask 8":                  "umask 8: choose a mask",
		"clock-start 1.1.2026":     "clock-start 1.1.2026: choose a time such as 2026-01-01T00:00:00Z",
		"processes 2 and one more": "processes 2 and one more: choose 1 to 26",
	} {
		_, err := ParseSetting(text)
		require.ErrorContains(t, err, want, text)
	}
}

// What nobody can mean is refused before anything is explored.
func TestSettingBounds(t *testing.T) {
	sc := Scenario{ID: "a/b/c", Program: func(int, int) Program { return nil }, Claims: []Claim{{Property: MutualExclusion, Verdict: Holds}}}
	for want, st := range map[string]Setting{
		"processes 0: choose 1 to 26":                           {},
		"processes 27: choose 1 to 26":                          {Processes: 27},
		"crashes 65536: choose 0 to 26":                         {Processes: 2, Crashes: 65536},
		"crashes -1: choose 0 to 26":                            {Processes: 2, Crashes: -1},
		"stalls 32768: choose 0 to 1000":                        {Processes: 2, Stalls: 32768, StallFor: time.Hour},
		"stalls need StallFor":                                  {Processes: 2, Stalls: 1},
		"1000 stalls of 36 500 days move the clock by more tha": {Processes: 2, Stalls: 1000, StallFor: maxJump},
		"stalls of -36 500 days move the clock by more than":    {Processes: 2, Stalls: 1000, StallFor: -maxJump},
		"a clock that is set back delays nobody":                {Processes: 2, Stalls: 1, StallFor: -time.Second, Punctual: []int{1}},
		"skew: given for 1 processes of 2":                      {Processes: 2, Skew: []time.Duration{time.Hour}},
		"power-losses 2: choose 0 to 1":                         {Processes: 2, PowerLosses: 2},
		"tasks 65: choose 1 to 64":                              {Processes: 1, Tasks: []int{65}},
		"65 tasks in all: choose up to 64":                      {Processes: 2, Tasks: []int{32, 33}},
		"tasks: given for 1 processes of 2":                     {Processes: 2, Tasks: []int{1}},
		"signals 21: choose 0 to 20":                            {Processes: 1, Signals: 21, Handlers: []int{0}},
		"signals are handled by nobody":                         {Processes: 1, Signals: 1},
		"handlers: process number 2 is out of range":            {Processes: 2, Signals: 1, Handlers: []int{2}},
		"signals are not compared with anything beside sleeps":  {Processes: 2, Signals: 1, Handlers: []int{0}, Punctual: []int{1}},
		"running: given for 1 processes of 2":                   {Processes: 2, Running: []int{1}},
		"2 tasks of process B run at first, and it has 1":       {Processes: 2, Running: []int{1, 2}},
		"65 tasks in all":                                       {Processes: 2, Tasks: []int{32, 32}, Handlers: []int{0}},
		"tasks 0,1: choose 1 to 64":                             {Processes: 2, Tasks: []int{0, 1}},
		"mortal: process number 2 is out of range":              {Processes: 2, Crashes: 1, Mortal: []int{2}},
		"punctual: process number 2 is out of range": {Processes: 2, Stalls: 1, StallFor: time.Hour,
			Punctual: []int{2}},
		"reboot: process number 1 is out of range":    {Processes: 4, PowerLosses: 1, Reboot: []int{1, 1}},
		"concurrency 7: choose one of":                {Processes: 2, Concurrency: 7},
		"the file system nfs is not modelled: choose": {Processes: 2, Machine: fsfake.Options{Profile: fsfake.NFS}},
	} {
		sc.Setting = st
		require.ErrorContains(t, sc.Validate(), want)
		sc.Setting = Setting{Processes: st.Processes}
		_, err := sc.In(st)
		if want != "stalls need StallFor" { // In chooses one
			require.ErrorContains(t, err, want)
		}
	}
	sc.Setting = Setting{Processes: 2, Tasks: []int{32, 32}, Crashes: 26, Stalls: 1000, StallFor: time.Hour}
	require.NoError(t, sc.Validate())
}

// A scenario in another setting knows the one that it was written with.
func TestIn(t *testing.T) {
	sc := Scenario{ID: "a/b/c", Setting: Setting{Processes: 2, Stalls: 1, StallFor: time.Minute}}
	require.Empty(t, sc.Changed())
	st := sc.Setting
	st.Processes, st.StallFor = 3, 48*time.Hour
	more, err := sc.In(st)
	require.NoError(t, err)
	require.Equal(t, "[processes 3, not 2 stall-for 48h0m0s, not 1m0s]", fmt.Sprint(more.Changed()))
	back, err := more.WithProcesses(2)
	require.NoError(t, err)
	require.Equal(t, "[stall-for 48h0m0s, not 1m0s]", fmt.Sprint(back.Changed()))
	require.Equal(t, 2, sc.Setting.Processes)

	sc.Setting = Setting{Processes: 2}
	sc, err = sc.In(Setting{Processes: 2, Stalls: 1})
	require.NoError(t, err)
	require.Equal(t, DefaultStall, sc.Setting.StallFor)

	sc.Setting.Fixed = true
	_, err = sc.WithProcesses(3)
	require.ErrorContains(t, err, "a/b/c has exactly 2 processes, each with its own role")
}

func FuzzParseSetting(f *testing.F) {
	f.Add("processes 2\ncrashes 1\nstalls 1\nstall-for 48h\n")
	f.Add("processes 2\ntasks 2,1\nmortal A,C\nreboot none\numask 077\nclock-start 2026-01-01T00:00:00Z")
	f.Fuzz(func(t *testing.T, text string) {
		st, err := ParseSetting(text)
		if err != nil || st.Processes == 0 {
			return
		}
		back, err := ParseSetting(st.Format())
		require.NoError(t, err, text)
		require.Empty(t, back.Changed(st), text)
		require.Equal(t, st.Format(), back.Format())
	})
}
