package fsfake

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/internal/golden"
)

// leftOn are the disks, as text, that a loss of power may leave after calls; f has old contents, and all else is made.
func leftOn(t require.TestingT, d Disk, old string, calls func(p *Proc)) []string {
	m := New(Options{PowerLoss: true, Disk: d})
	p := m.Proc(1)
	require.NoError(t, p.Mkdir("/d", 0o755))
	require.NoError(t, p.WriteFile("/f", []byte(old), 0o644))
	m.Sync()
	calls(p)
	n, err := m.LossStates()
	require.NoError(t, err)
	var out []string
	for k := range n {
		c := m.Clone()
		c.LosePower(k)
		require.NoError(t, check(c))
		out = append(out, treeText(c, "/"))
	}
	slices.Sort(out)
	return out
}

// treeText is what is below a directory, with "0" for a byte of zeros.
func treeText(m *Machine, at string) string {
	var parts []string
	id, _ := m.Lookup(at)
	for _, name := range m.View(id).Names {
		id, _ := m.Lookup(at + name)
		switch v := m.View(id); {
		case at+name == "/tmp":
		case v.Kind == KindDir:
			parts = append(parts, name+"/", treeText(m, at+name+"/"))
		default:
			parts = append(parts, name+"="+short(v.Content))
		}
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// short has a letter and a number for each run of one byte, where there are many.
func short(s string) string {
	var b strings.Builder
	for s != "" {
		n := len(s) - len(strings.TrimLeft(s, s[:1]))
		c := strings.ReplaceAll(s[:1], "\x00", "0")
		if b.WriteString(c); n > 1 {
			b.WriteString("*" + strings.TrimLeft(string(appendDecimal(nil, n)), "0"))
		}
		s = s[n:]
	}
	return b.String()
}

func appendDecimal(b []byte, n int) []byte {
	if n >= 10 {
		b = appendDecimal(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func TestDisksLeaveWhatWasSeen(t *testing.T) {
	seen := strings.NewReplacer("ooo", "o*3", "NN", "N*2")
	for name, c := range deedsOfDisks {
		for _, d := range Disks() {
			left := leftOn(t, d, "ooo", c.calls)
			for _, s := range c.seen[d] {
				require.Contains(t, left, seen.Replace(s), "%s on %s", name, d)
			}
			for _, s := range c.never[d] {
				require.NotContains(t, left, seen.Replace(s), "%s on %s", name, d)
			}
		}
	}
}

// Blocks of a file overtake each other, and a write of several is there in part; on btrfs they do not.
func TestBlocksOvertakeEachOther(t *testing.T) {
	old, two := strings.Repeat("o", 2*block), func(p *Proc) {
		f, _ := p.OpenFile("/f", os.O_WRONLY, 0)
		_, _ = f.WriteAt([]byte(strings.Repeat("1", block)), block)
		_, _ = f.WriteAt([]byte(strings.Repeat("2", block)), 0)
	}
	require.Contains(t, leftOn(t, DiskPosix, old, two), "d/  f=2*4096o*4096")
	require.Contains(t, leftOn(t, DiskXfs, old, two), "d/  f=2*4096o*4096")
	require.NotContains(t, leftOn(t, DiskBtrfs, old, two), "d/  f=2*4096o*4096")
}

// A file system leaves nothing that POSIX does not allow, whatever was done, and what programs saw is among it; looking
// at less leaves the same there.
func TestDisksAreLegalOnPosix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 7).Draw(t, "calls")
		calls := func(p *Proc) {
			for _, k := range seed {
				switch k {
				case 0:
					_ = p.WriteFile("/t", []byte("N"), 0o644)
				case 1:
					_ = p.Rename("/t", "/f")
				case 2:
					atEnd(p, "a")
				case 3:
					_ = p.Rename("/f", "/d/f")
				case 4:
					_ = p.Link("/d/f", "/t")
				case 5:
					_ = p.Unlink("/t")
				case 6:
					if f, err := p.Open("/t"); err == nil {
						_ = f.Sync()
					}
				case 7:
					fsyncs(p, "/d")
				case 8:
					datasyncs(p, "/")
				}
			}
		}
		posix, now := leftOn(t, DiskPosix, "oo", calls), ""
		for _, d := range Disks() {
			left := leftOn(t, d, "oo", calls)
			if d != DiskBtrfs || !slices.Contains(seed, 6) { // which keeps a name alone
				require.Subset(t, posix, left, "%s", d)
			}
			m := New(Options{})
			p := m.Proc(1)
			_, _ = p.Mkdir("/d", 0o755), p.WriteFile("/f", []byte("oo"), 0o644)
			calls(p)
			now = treeText(m, "/")
			require.Contains(t, left, now, "%s", d)
		}
	})
}

func TestLossesAreToldApartWhereSomebodyLooks(t *testing.T) {
	m := New(Options{PowerLoss: true, Disk: DiskPosix})
	p := m.Proc(1)
	for _, name := range []string{"/a", "/b", "/c"} {
		require.NoError(t, p.WriteFile(name, []byte("old"), 0o644))
	}
	m.Sync()
	for _, name := range []string{"/a", "/b", "/c"} {
		require.NoError(t, p.WriteFile(name, []byte("n"), 0o644))
	}
	all, err := m.Losses(nil, 0)
	require.NoError(t, err)
	one, err := m.Losses([][]string{{"/a"}}, 0)
	require.NoError(t, err)
	each, err := m.Losses([][]string{{"/a"}, {"/b"}}, 0)
	require.NoError(t, err)
	n := one.Len()
	require.Equal(t, []int{n * n * n, 2*n - 1}, []int{all.Len(), each.Len()})
}

// An fsync that fails with EIO drops the data that was not synced; a later one that succeeds does not bring it back.
// What was truncated is gone, and the file is as long as it was.
func TestFsyncThatFailsDropsWhatWasDirty(t *testing.T) {
	for flags, want := range map[int]string{0: "oooo", os.O_TRUNC: "\x00\x00\x00", os.O_APPEND: "oooo\x00\x00\x00"} {
		m := New(Options{PowerLoss: true})
		p := m.Proc(1)
		require.NoError(t, p.WriteFile("/f", []byte("oooo"), 0o644))
		m.Sync()
		f, err := p.OpenFile("/f", os.O_WRONLY|flags, 0)
		require.NoError(t, err)
		_, err = f.WriteString("new")
		require.NoError(t, err)
		_, ok := m.Fail(Task{1, 1}, Op{Call: CallFsync, FD: f.Fd()}, EIO)
		require.True(t, ok)
		require.NoError(t, f.Sync())
		text, err := p.ReadFile("/f")
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

// A few disks are those with the fewest old versions, and say that there are more.
func TestFewDisks(t *testing.T) {
	m := New(Options{PowerLoss: true, Disk: DiskPosix})
	p := m.Proc(1)
	for _, name := range []string{"/a", "/b", "/c"} {
		require.NoError(t, p.WriteFile(name, []byte("n"), 0o644))
	}
	all, err := m.Losses(nil, 0)
	require.NoError(t, err)
	few, err := m.Losses(nil, 3)
	require.NoError(t, err)
	many, err := m.Losses(nil, 100)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, true}, []bool{all.Whole, few.Whole, many.Whole})
	require.Equal(t, all.Len(), many.Len())
	for k := range few.Len() {
		c := m.Clone()
		c.Lose(few, k)
		require.Contains(t, []string{"a=n b=n c=n", "a=n b=n c=", "a=n b=n c=0", "a=n b=n", "a=n b= c=n", "a= b=n c=n",
			"a=0 b=n c=n", "a=n b=0 c=n", "a=n", ""}, treeText(c, "/"))
	}
}

// diskTable says what disks may leave after a loss of power: a row for each thing, and a column for each of [Disks].
func diskTable() string {
	var b strings.Builder
	row := func(says string, cell func(Disk) string) {
		b.WriteString("| " + says + " |")
		for _, d := range Disks() {
			b.WriteString(" " + cell(d) + " |")
		}
		b.WriteString("\n")
	}
	may := func(says string, legal func(r *diskRules) bool) {
		row(says, func(d Disk) string { return map[bool]string{true: "yes", false: "no"}[legal(d.rules())] })
	}
	row("what is left when the power is lost", Disk.String)
	row("---", func(Disk) string { return "---" })
	may("some of the last writes to a file, in their order", func(*diskRules) bool { return true })
	may("4096 bytes of a longer write, or a later write and not an earlier one to another block of the file",
		func(r *diskRules) bool { return r.blocks })
	may("the new size of a file that became longer, and zeros in place of what was added", func(r *diskRules) bool {
		return r.zeros
	})
	may("bytes that were cut off a file, where it has become longer again", func(r *diskRules) bool {
		return r.blocks && !r.cuts
	})
	may("the old bytes where a file was overwritten, although sync or syncfs has returned", func(r *diskRules) bool {
		return r.lazy
	})
	may("an empty file, renamed over another one before it was synced", func(r *diskRules) bool { return !r.allocates })
	may("a new file without its name, although fsync of the file has returned", func(r *diskRules) bool {
		return !r.ordered
	})
	may("both names of a file that was renamed into another directory, of which one was synced",
		func(r *diskRules) bool { return !r.ordered || r.alone })
	may("none of both names", func(r *diskRules) bool { return !r.ordered })
	may("a later change of a directory, and not an earlier one of another", func(r *diskRules) bool {
		return !r.ordered
	})
	return b.String()
}

// The page about losses of power has the table. Run with -update to write it anew.
func TestPageHasTheDisks(t *testing.T) {
	const file, begins, ends = "../docs/power.md", "<!-- table: disks -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begins)
	require.True(t, found, "%s has no %s", file, begins)
	_, after, found := strings.Cut(rest, ends)
	require.True(t, found, "the table of %s has no end", file)
	golden.CheckFile(t, file, before+begins+diskTable()+ends+after)
}
