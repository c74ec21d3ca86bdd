package fsfake

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var genOptions = rapid.Custom(func(t *rapid.T) Options {
	return Options{
		InodeNumbers: rapid.SampledFrom([]InodePolicy{InodesCanonical, InodesReuse, InodesUnique, InodesFirstSeen}).Draw(t, "policy"),
		FileTimes:    rapid.SampledFrom([]TimePolicy{TimesCoarse, TimesMultigrain}).Draw(t, "times"),
	}
})

// TestBookkeeping: no sequence of calls leaves counts that do not add up.
func TestBookkeeping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := trioOf(genOptions.Draw(t, "options"))
		for _, d := range genDeeds.Draw(t, "deeds") {
			d.apply(m)
			if err := check(m); err != nil {
				t.Fatalf("after %s: %v", d, err)
			}
		}
	})
}

// TestClonesAreIndependent: what happens to a machine does not reach its clones, and a
// clone answers as its original would have.
func TestClonesAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := trioOf(genOptions.Draw(t, "options"))
		type snapshot struct {
			m    *Machine
			key  string
			rest int
		}
		var kept []snapshot
		var answers []Result
		deeds := genDeeds.Draw(t, "deeds")
		for i, d := range deeds {
			if rapid.IntRange(0, 3).Draw(t, "clone") == 0 {
				c := m.Clone()
				if rapid.Bool().Draw(t, "swap") {
					m, c = c, m
				}
				kept = append(kept, snapshot{c, string(c.AppendKey(nil)), i})
			}
			answers = append(answers, d.apply(m))
		}
		final := string(m.AppendKey(nil))
		for _, s := range kept {
			if got := string(s.m.AppendKey(nil)); got != s.key {
				t.Fatalf("a clone changed with its original")
			}
		}
		for _, s := range kept { // what one of two clones does must not reach the other either
			for _, d := range genDeeds.Draw(t, "other deeds") {
				d.apply(s.m.Clone())
			}
			if got := string(s.m.AppendKey(nil)); got != s.key {
				t.Fatalf("a clone changed with its clone")
			}
		}
		for _, s := range kept {
			for i, d := range deeds[s.rest:] {
				if r := d.apply(s.m); r != answers[s.rest+i] {
					t.Fatalf("%s answered %v to the clone, %v to the original", d, r, answers[s.rest+i])
				}
			}
			if string(s.m.AppendKey(nil)) != final {
				t.Fatalf("a clone that did the same has another key")
			}
		}
	})
}

// noise makes and closes files without a name, which changes nothing but identities.
func noise(m *Machine, n int) {
	for range n {
		r := m.Do(Task{1, 1}, Op{Call: CallOpen, Path: "/tmp", Flags: os.O_RDWR | O_TMPFILE})
		m.Do(Task{1, 1}, Op{Call: CallClose, FD: int(r.N)})
	}
}

// TestIdentitiesAreInvisible: machines that differ in the identities of their inodes and
// descriptions only have equal keys, and answer every call alike.
func TestIdentitiesAreInvisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := genOptions.Filter(func(o Options) bool { return o.InodeNumbers != InodesUnique }).Draw(t, "options")
		m, o := trioOf(options), trioOf(options)
		for _, d := range genDeeds.Draw(t, "deeds") {
			noise(o, rapid.IntRange(0, 2).Draw(t, "noise"))
			if r, s := d.apply(m), d.apply(o); r != s {
				t.Fatalf("%s answered %v and %v", d, r, s)
			}
			if string(m.AppendKey(nil)) != string(o.AppendKey(nil)) {
				t.Fatalf("keys differ after %s", d)
			}
		}
	})
}

// TestOnlyWhatIsProfiledDiffers: until a call is answered on [Posix] that another profile may answer otherwise,
// as [Result.Profiled] says, that profile answers every call as [Posix] does; but for the links of directories.
func TestOnlyWhatIsProfiledDiffers(t *testing.T) {
	met := map[Profile]int{}
	seldom := rapid.SampledFrom([]deed{
		{task: Task{101, 1}, op: Op{Call: CallTruncate, Path: "/f"}}, {task: Task{101, 1}, op: Op{Call: CallTruncate, Path: "/f", Len: 1}},
		{task: Task{102, 1}, op: Op{Call: CallRename, Path: "/d", Path2: "/full"}}, {task: Task{101, 1}, op: Op{Call: CallRename, Path: "/d/e", Path2: "/full"}},
		{task: Task{102, 1}, op: Op{Call: CallRename, Path: "/f", Path2: "/g", Flags: RENAME_EXCHANGE}},
		{task: Task{101, 1}, op: Op{Call: CallReaddir, FD: 3}}, {task: Task{101, 1}, op: Op{Call: CallMkdir, Path: "/d/new", Mode: 0o755}},
		{task: Task{101, 1}, op: Op{Call: CallStat, Path: "/f"}}, {task: Task{101, 1}, op: Op{Call: CallStat, Path: "/d/e"}},
		{task: Task{101, 1}, op: Op{Call: CallStat, Path: "/full"}}, {advance: true}, {advance: true},
	})
	compare := func(t *rapid.T, profile Profile) {
		o := genOptions.Draw(t, "options")
		posix := trioOf(o)
		o.Profile = profile
		other := trioOf(o)
		for _, m := range []*Machine{posix, other} {
			for _, dir := range []string{"/d/e", "/full/x"} {
				require.NoError(t, m.Proc(101).MkdirAll(dir, 0o777))
			}
			require.NoError(t, m.Proc(101).WriteFile("/f", nil, 0o666))
			require.NoError(t, m.Proc(101).WriteFile("/g", nil, 0o666))
			d, err := m.Proc(101).Open("/d")
			require.NoError(t, err)
			require.Equal(t, 3, d.Fd())
		}
		var deeds []deed
		if rapid.IntRange(0, 4).Draw(t, "mixed") == 0 {
			deeds = genDeeds.Draw(t, "deeds")
		}
		for _, d := range rapid.SliceOfN(seldom, 10, 30).Draw(t, "seldom") {
			deeds = slices.Insert(deeds, rapid.IntRange(0, len(deeds)).Draw(t, "at"), d)
		}
		for _, d := range deeds {
			r, s := d.apply(posix), d.apply(other)
			if r.Profiled(d.op).Has(o.Profile) {
				met[o.Profile]++
				return
			}
			if o.Profile == Btrfs {
				r.Stat.Nlink, s.Stat.Nlink = 0, 0
			}
			if r != s {
				t.Fatalf("%s answered %v, and %v on %s", d, r, s, o.Profile)
			}
		}
	}
	for _, p := range []Profile{Ext4, XFS, Btrfs, Tmpfs} {
		rapid.Check(t, func(t *rapid.T) { compare(t, p) })
		t.Logf("%s: answered otherwise in %d runs", p, met[p])
		require.Equal(t, p == Ext4, met[p] == 0, p)
	}
}

// TestOrderOfIndependentSteps: steps that do not touch one another have one key in any
// order.
func TestOrderOfIndependentSteps(t *testing.T) {
	steps := []func(*Machine){
		func(m *Machine) { _ = m.Proc(101).WriteFile("/a", []byte("a"), 0o644) },
		func(m *Machine) { _ = m.Proc(102).Mkdir("/b", 0o755) },
		func(m *Machine) { f, _ := m.Proc(103).Create("/tmp/c"); _ = f.Flock(LOCK_SH) },
		func(m *Machine) { f, _ := m.Proc(101).Open("/tmp"); _ = f.Flock(LOCK_SH) },
		func(m *Machine) { _ = m.Proc(1).Symlink("a", "/s") },
		func(m *Machine) { Cell[int]{"x"}.Store(m.Proc(102), 1) },
		func(m *Machine) { Cell[int]{"w"}.Store(m.Proc(102), 1) },
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := trio(InodesCanonical), trio(InodesCanonical)
		for _, s := range steps {
			s(a)
		}
		for _, s := range rapid.Permutation(steps).Draw(t, "order") {
			s(b)
		}
		if string(a.AppendKey(nil)) != string(b.AppendKey(nil)) {
			t.Fatalf("the order shows in the key")
		}
	})
}

// TestKeysTellMachinesApart: each of these differs from all the others.
func TestKeysTellMachinesApart(t *testing.T) {
	open := func(m *Machine, pid int, path string, flags int) *File {
		f, err := m.Proc(pid).OpenFile(path, flags, 0o644)
		require.NoError(t, err)
		return f
	}
	variants := map[string]func(*Machine){
		"nothing":    func(*Machine) {},
		"clock":      func(m *Machine) { m.Advance(1) },
		"name":       func(m *Machine) { _ = m.Proc(101).Link("/f", "/g") },
		"other name": func(m *Machine) { _ = m.Proc(101).Link("/f", "/h") },
		"symlink":    func(m *Machine) { _ = m.Proc(101).Symlink("/f", "/g") },
		"copy":       func(m *Machine) { _ = m.Proc(101).WriteFile("/g", []byte("0"), 0o644) },
		"contents":   func(m *Machine) { _ = m.Proc(101).WriteFile("/f", []byte("1"), 0o644) },
		"mode":       func(m *Machine) { _ = m.Proc(101).Chmod("/f", 0o600) },
		"owner":      func(m *Machine) { m.Do(Task{101, 1}, Op{Call: CallChown, Path: "/f", Off: 5, Len: -1}) },
		"descriptor": func(m *Machine) { open(m, 101, "/f", os.O_RDWR) },
		"another's":  func(m *Machine) { open(m, 102, "/f", os.O_RDWR) },
		"read-only":  func(m *Machine) { open(m, 101, "/f", os.O_RDONLY) },
		"append":     func(m *Machine) { open(m, 101, "/f", os.O_RDWR|os.O_APPEND) },
		"fd 4":       func(m *Machine) { f := open(m, 101, "/f", os.O_RDWR); _, _ = f.Dup(); _ = f.Close() },
		"dup":        func(m *Machine) { _, _ = open(m, 101, "/f", os.O_RDWR).Dup() },
		"two opens":  func(m *Machine) { open(m, 101, "/f", os.O_RDWR); open(m, 101, "/f", os.O_RDWR) },
		"offset":     func(m *Machine) { _, _ = open(m, 101, "/f", os.O_RDWR).Seek(1, 0) },
		"flock sh":   func(m *Machine) { _ = open(m, 101, "/f", os.O_RDWR).Flock(LOCK_SH) },
		"flock ex":   func(m *Machine) { _ = open(m, 101, "/f", os.O_RDWR).Flock(LOCK_EX) },
		"record":     func(m *Machine) { _ = open(m, 101, "/f", os.O_RDWR).FcntlLock(RecordLock{Type: F_WRLCK}, false) },
		"record rd":  func(m *Machine) { _ = open(m, 101, "/f", os.O_RDWR).FcntlLock(RecordLock{Type: F_RDLCK}, false) },
		"record 1": func(m *Machine) {
			_ = open(m, 101, "/f", os.O_RDWR).FcntlLock(RecordLock{Type: F_WRLCK, Len: 1}, false)
		},
		"OFD":             func(m *Machine) { _ = open(m, 101, "/f", os.O_RDWR).OFDLock(RecordLock{Type: F_WRLCK}, false) },
		"unlinked":        func(m *Machine) { open(m, 101, "/f", os.O_RDWR); _ = m.Proc(101).Unlink("/f") },
		"number seen":     func(m *Machine) { _, _ = m.Proc(101).Stat("/f") },
		"by another":      func(m *Machine) { _, _ = m.Proc(102).Stat("/f") },
		"other seen":      func(m *Machine) { _, _ = m.Proc(101).Stat("/") },
		"two seen":        func(m *Machine) { _, _ = m.Proc(101).Stat("/f"); _, _ = m.Proc(101).Stat("/") },
		"other way round": func(m *Machine) { _, _ = m.Proc(101).Stat("/"); _, _ = m.Proc(101).Stat("/f") },
		"killed":          func(m *Machine) { m.KillProc(101) },
		"process":         func(m *Machine) { m.AddProc(ProcSpec{Pid: 104}) },
		"started later":   func(m *Machine) { m.AddProc(ProcSpec{Pid: 104, Start: 7}) },
		"of a user":       func(m *Machine) { m.AddProc(ProcSpec{Pid: 104, UID: 7}) },
		"pid used up":     func(m *Machine) { m.AddProc(ProcSpec{Pid: 104}); m.KillProc(104) },
		"cell":            func(m *Machine) { Cell[int]{"x"}.Store(m.Proc(101), 1) },
		"cell of string":  func(m *Machine) { Cell[string]{"x"}.Store(m.Proc(101), "1") },
		"cell of int64":   func(m *Machine) { Cell[int64]{"x"}.Store(m.Proc(101), 1) },
		"other cell":      func(m *Machine) { Cell[int]{"y"}.Store(m.Proc(101), 1) },
		"mtime":           func(m *Machine) { m.Do(Task{101, 1}, Op{Call: CallUtimes, Path: "/f", Time2: 1}) },
		"atime":           func(m *Machine) { m.Do(Task{101, 1}, Op{Call: CallUtimes, Path: "/f", Time: 1}) },
		"waits":           func(m *Machine) { m.Do(Task{101, 1}, Op{Call: CallCellWait, Cell: "x"}) },
		"without a name":  func(m *Machine) { open(m, 101, "/tmp", os.O_RDWR|O_TMPFILE) },
		"never to have":   func(m *Machine) { open(m, 101, "/tmp", os.O_RDWR|O_TMPFILE|os.O_EXCL) },
		"works in /d/x":   func(m *Machine) { removedCwd(m, "/d") },
		"works in /e/x":   func(m *Machine) { removedCwd(m, "/e") },
		"other waits":     func(m *Machine) { m.Do(Task{101, 2}, Op{Call: CallCellWait, Cell: "x"}) },
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		m := trio(InodesCanonical)
		require.NoError(t, m.Proc(101).WriteFile("/f", []byte("0"), 0o644))
		variants[name](m)
		key := string(m.AppendKey(nil))
		require.Equal(t, "", seen[key], "%s has the key of another", name)
		seen[key] = name
	}
}

// removedCwd lets a process work in a removed directory, once below dir.
func removedCwd(m *Machine, dir string) {
	a := m.Proc(101)
	_, _, _ = a.Mkdir("/d", 0o755), a.Mkdir("/e", 0o755), a.Mkdir(dir+"/x", 0o755)
	m.AddProc(ProcSpec{Pid: 104, Cwd: dir + "/x"})
	_ = a.Rmdir(dir + "/x")
}

// probes are calls by others than t.
func probes(t Task) []deed {
	var ds []deed
	for _, other := range []Task{{101, 3}, {102, 3}, {103, 3}, {104, 3}} {
		if other.Pid == t.Pid { // its other tasks share its descriptors: opening one is no change to them
			continue
		}
		ops := []Op{{Call: CallKill, Pid: t.Pid}, {Call: CallCellLoad, Cell: "c"}, {Call: CallFork}}
		for _, path := range []string{"/a", "/tmp/a", "/d", "/s", ".", ".."} {
			ops = append(ops, Op{Call: CallStat, Path: path}, Op{Call: CallReadlink, Path: path}, Op{Call: CallOpen, Path: path, Flags: os.O_RDWR})
		}
		for fd := 3; fd <= 5; fd++ {
			ops = append(ops, Op{Call: CallFstat, FD: fd}, Op{Call: CallGetfl, FD: fd}, Op{Call: CallRead, FD: fd, Len: 9}, Op{Call: CallLseek, FD: fd, Flags: 1},
				Op{Call: CallFlock, FD: fd, Flags: LOCK_EX}, Op{Call: CallFlock, FD: fd, Flags: LOCK_SH | LOCK_NB},
				Op{Call: CallGetlk, FD: fd, Flags: F_WRLCK}, Op{Call: CallOFDGetlk, FD: fd, Flags: F_WRLCK}, Op{Call: CallReaddir, FD: fd})
		}
		for _, op := range ops {
			ds = append(ds, deed{task: other, op: op})
		}
	}
	return ds
}

// TestVersionCountsWhatOthersSee: when a call by one process changes what another would
// be answered, Version has changed.
func TestVersionCountsWhatOthersSee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := trioOf(genOptions.Draw(t, "options"))
		for _, d := range genDeeds.Draw(t, "deeds") {
			if d.advance { // the clock is no change of the machine's
				continue
			}
			before := m.Clone()
			d.apply(m)
			if m.Version() != before.Version() {
				continue
			}
			for _, probe := range probes(d.task) {
				r, s := probe.apply(before.Clone()), probe.apply(m.Clone())
				if r != s && r.Unmodelled == "" && s.Unmodelled == "" { // what is not modelled ends the run, and answers nothing
					t.Fatalf("after %s, %s answers %v, not %v, under one version", d, probe, s, r)
				}
			}
		}
	})
}
