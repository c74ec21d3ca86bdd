//go:build linux

package fsfake_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
)

var cutsFlag = flag.Int("disks.cuts", 0, "losses of power of each real disk; 0: 60, or 7000 where tests are long")

// A realFS is a real file system with which a disk of the model is compared.
type realFS struct {
	disk    fsfake.Disk
	mkfs    []string
	size    int64
	options string // of the mount
}

var realFSs = []realFS{
	{fsfake.DiskExt4, strings.Fields("mkfs.ext4 -q -F -b 4096 -J size=4"), 64 << 20, ""},
	{fsfake.DiskXfs, strings.Fields("mkfs.xfs --unsupported -q -f -d agcount=1 -l size=6m"), 64 << 20, "nouuid"},
	{fsfake.DiskBtrfs, strings.Fields("mkfs.btrfs -q -f -m single -d single"), 128 << 20, ""},
}

// mountHere is mount(2), of a process that has its mounts for itself: see TestRealDisks.
func mountHere(source, target, kind string, flags uintptr, data string) error {
	return unix.Mount(source, target, kind, flags, data)
}

// What a real ext4, xfs or btrfs has after a loss of power is what the model of it may have. Deeds are done on a device
// that logs its writes; the power is lost after each of them, and with some of those since the last flush missing; what
// is left is mounted, which recovers it, and read.
func TestRealDisks(t *testing.T) {
	const pkg = "./fsfake"
	testmain.Slow(t, "it mounts some hundred disks", pkg)
	testmain.OneWorker(t)
	if os.Geteuid() != 0 {
		notCompared(t, "a disk", errors.New("only root can mount one"))
	}
	if !testmain.OwnMounts(t, pkg) {
		return
	}
	for _, fs := range realFSs {
		t.Run(fs.disk.String(), func(t *testing.T) {
			testmain.Needs(t, fs.mkfs[0], pkg)
			t.Parallel()
			compareDisk(t, fs)
		})
	}
}

// compareDisk compares a file system with its model.
func compareDisk(t *testing.T, fs realFS) {
	dir := t.TempDir()
	require.NoError(t, mountHere("none", dir, "tmpfs", 0, "")) // which goes with the mount namespace
	// A loop device lets its file go a moment after the unmount of what is on it: until then dir is busy.
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	for _, d := range []string{"/before", "/images"} {
		require.NoError(t, os.Mkdir(dir+d, 0o700))
	}
	image := formatted(t, fs, dir+"/image")
	defer image.Close()
	first, err := copied(image, dir+"/first")
	require.NoError(t, err)
	defer first.Close()
	started := time.Now()
	rnd := rand.New(rand.NewSource(1))
	runs := runsOfDeeds(rnd)
	log := logged(t, fs, dir, runs)
	logTime := time.Since(started)
	cuts := cutsOf(log, rnd.Intn)
	some := someCuts(cuts, runs)
	texts := make([]string, len(some))
	errs := make([]error, 4) // side by side: a mount mostly waits
	var all sync.WaitGroup
	for k := range errs {
		all.Add(1)
		go func() {
			defer all.Done()
			from, to := k*len(some)/len(errs), (k+1)*len(some)/len(errs)
			c := &cutter{log: log, before: map[int][]byte{}, dir: fmt.Sprintf("%s/images/%d", dir, k), fs: fs}
			errs[k] = c.all(first, runs, some[from:to], texts[from:to])
		}()
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	t.Logf("%s: %d runs, %d events, logged in %v; %d cuts of %d in %v", fs.disk, len(runs), len(log),
		logTime.Round(time.Millisecond), len(some), len(cuts), time.Since(started).Round(time.Millisecond))
	seen := seenOn{}
	for i, at := range some {
		seen.add(runs[at.run], at, texts[i])
	}
	seen.judge(t, fs.disk)
	t.Logf("%s: judged after %v", fs.disk, time.Since(started).Round(time.Millisecond))
}

// someCuts takes so many cuts as tests look at, evenly, and those that refute a promise.
func someCuts(cuts []cut, runs []diskRun) (some []cut) {
	many := *cutsFlag
	if many == 0 {
		many = testmain.Many(20, 60, 7000)
	}
	next, stride := 0.0, max(float64(len(cuts))/float64(many), 1)
	for i, c := range cuts {
		r := runs[c.run]
		refutes := slices.Contains(usualDeeds[:2], r.deed) && c.step == len(r.urges) && !strings.Contains(r.urges, "d")
		if i == int(next) || refutes && c.lost == nil {
			some = append(some, c)
		}
		if i == int(next) {
			next += stride
		}
	}
	return some
}

// all notes what is left of cuts.
func (c *cutter) all(first *os.File, runs []diskRun, cuts []cut, texts []string) error {
	if err := errors.Join(os.Mkdir(c.dir, 0o700), os.Mkdir(c.dir+"/after", 0o700)); err != nil {
		return err
	}
	var err error
	if c.image, err = copied(first, c.dir+"/image"); err != nil {
		return err
	}
	defer c.image.Close()
	for i, at := range cuts {
		r := runs[at.run]
		if texts[i], err = c.left(at, r.dir); err != nil {
			return fmt.Errorf("%s, after step %d, urged %s, %s: %w", r.deed, at.step, r.urges, at.how(), err)
		}
	}
	return nil
}

// notCompared skips a test for want of something.
func notCompared(t *testing.T, what string, err error) {
	t.Helper()
	t.Skipf("SKIPPED: %s was not compared with a real one: %v; go test ./fsfake runs it where it can", what, err)
}

// formatted makes an image with an empty file system.
func formatted(t *testing.T, fs realFS, name string) *os.File {
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(fs.size))
	out, err := exec.Command(fs.mkfs[0], append(fs.mkfs[1:], name)...).CombinedOutput()
	if err != nil {
		notCompared(t, fs.disk.String(), fmt.Errorf("%s: %w\n%s", fs.mkfs[0], err, out))
	}
	require.NoError(t, dug(f))
	return f
}

// A diskModel is what a disk may have after so many steps of a deed, and what the calls answer.
type diskModel struct {
	left  []map[string]bool
	whole bool // nothing is missing in left
	said  []string
}

// modelOf asks the model; without losses it says what the calls answer.
func modelOf(d deed, disk fsfake.Disk, losses bool) *diskModel {
	m := fsfake.New(fsfake.Options{PowerLoss: true, Disk: disk, Umask: 0o022})
	task := fsfake.Task{Pid: 1, N: 1}
	here := doer{"/R", func(op fsfake.Op) (fsfake.Result, error) { return m.Do(task, op), nil }, map[string]int{}}
	must := func(said string, err error) string {
		if err != nil {
			panic(fmt.Sprintf("%s: %v", d, err))
		}
		return said
	}
	_ = m.Proc(1).Mkdir("/R", 0o755)
	for _, s := range beforeDeeds.steps() {
		must(here.step(s))
	}
	m.Sync()
	out := &diskModel{whole: true}
	for _, s := range append([]string{""}, d.steps()...) {
		if s != "" {
			out.said = append(out.said, must(here.step(s)))
		}
		if !losses {
			continue
		}
		if strings.HasPrefix(s, "close ") {
			out.left = append(out.left, out.left[len(out.left)-1])
			continue
		}
		losses, err := m.Losses(nil, 0)
		must("", err)
		left := map[string]bool{}
		for k := range losses.Len() {
			c := m.Clone()
			c.Lose(losses, k)
			left[strings.Join(fakeTree(c, "/R", ""), " ")] = true
		}
		out.whole = out.whole && losses.Whole
		out.left = append(out.left, left)
	}
	return out
}

// fakeTree is realTree of a machine.
func fakeTree(m *fsfake.Machine, dir, at string) (all []string) {
	id, _ := m.LookupName(dir)
	for _, n := range m.View(id).Names {
		id, _ := m.LookupName(dir + "/" + n)
		switch v := m.View(id); v.Kind {
		case fsfake.KindDir:
			all = append(append(all, at+n+"/"), fakeTree(m, dir+"/"+n, at+n+"/")...)
		case fsfake.KindSymlink:
			all = append(all, at+n+"->"+v.Target)
		default:
			all = append(all, at+n+"="+runs(v.Content))
		}
	}
	return all
}

// seenOn are the disks that were left of deeds, after so many steps.
type seenOn map[deed]map[int]map[string]string // how, by text

func (s seenOn) add(r diskRun, at cut, text string) {
	if s[r.deed] == nil {
		s[r.deed] = map[int]map[string]string{}
	}
	if s[r.deed][at.step] == nil {
		s[r.deed][at.step] = map[string]string{}
	}
	s[r.deed][at.step][text] = fmt.Sprintf("urged %s, %s", r.urges, at.how())
}

// illegal lists what a model does not allow of what was seen of a deed. A step may be under way.
func (s seenOn) illegal(d deed, m *diskModel) (all []string) {
	steps := d.steps()
	for _, step := range slices.Sorted(maps.Keys(s[d])) {
		for _, text := range slices.Sorted(maps.Keys(s[d][step])) {
			if !m.left[step][text] && !m.left[min(step+1, len(steps))][text] {
				all = append(all, fmt.Sprintf("%s\n  after step %d, %s\n  %s", d, step, s[d][step][text], text))
			}
		}
	}
	return all
}

// unseen lists what a model allows after some step of a deed, and was seen after none.
func (s seenOn) unseen(d deed, m *diskModel) []string {
	legal := map[string]bool{}
	for _, left := range m.left {
		maps.Copy(legal, left)
	}
	for _, texts := range s[d] {
		for text := range texts {
			delete(legal, text)
		}
	}
	return slices.Sorted(maps.Keys(legal))
}

// judge looks all that was seen up in the model.
func (s seenOn) judge(t *testing.T, disk fsfake.Disk) {
	distinct, open := 0, 0
	for _, d := range slices.Sorted(maps.Keys(s)) {
		m := modelOf(d, disk, true)
		for _, texts := range s[d] {
			distinct += len(texts)
		}
		if testmain.Long() && slices.Contains(usualDeeds, d) {
			t.Logf("%s: %s\nlegal and never seen:\n%s", disk, d, strings.Join(s.unseen(d, m), "\n"))
		}
		for _, text := range s.illegal(d, m) {
			if !m.whole {
				open++
				continue
			}
			t.Errorf("%s left what the model does not allow:\n%s", disk, text)
		}
	}
	s.refutes(t, disk)
	t.Logf("%s: %d deeds, %d states after steps, %d of them not decided", disk, len(s), distinct, open)
}

// refutes asserts that the comparison notices a model that promises too much: what was seen of a deed is not all legal
// where the model had synced more.
func (s seenOn) refutes(t *testing.T, disk fsfake.Disk) {
	synced := deed(strings.Replace(string(usualDeeds[0]), "close t", "fsync t; close t", 1))
	for _, promise := range []struct {
		says    string
		of      deed
		because deed // what would keep it
	}{
		{"a rename keeps the data", usualDeeds[0], synced},
		{"a rename is there when it has returned", usualDeeds[1], usualDeeds[1] + "; fsync ."},
	} {
		stronger := modelOf(promise.because, disk, true)
		found := ""
		for _, text := range slices.Sorted(maps.Keys(s[promise.of][len(promise.of.steps())])) {
			if !stronger.left[len(stronger.left)-1][text] {
				found = text
			}
		}
		t.Logf("%s: %s: refuted by %q", disk, promise.says, found)
		if disk != fsfake.DiskExt4 || promise.of == usualDeeds[1] { // ext4 loses data some of the time
			require.NotEmpty(t, found, "%s: nothing seen refutes that %s", disk, promise.says)
		}
	}
}
