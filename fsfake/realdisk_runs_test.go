//go:build linux

package fsfake_test

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/internal/testmain"
	"pgregory.net/rapid"
)

// A diskRun is a deed that was done on a real disk.
type diskRun struct {
	deed  deed
	dir   string
	urges string // a letter for each step: see urge
}

// runsOfDeeds are deeds with the steps after which the kernel is urged to write.
func runsOfDeeds(rnd *rand.Rand) (all []diskRun) {
	add := func(d deed, most int) {
		n := len(d.steps())
		urges := []string{strings.Repeat("-", n), strings.Repeat("d", n), strings.Repeat("j", n)}
		for len(urges) < most {
			b := make([]byte, n)
			for i := range b {
				b[i] = "---ddj"[rnd.Intn(6)]
			}
			urges = append(urges, string(b))
		}
		for _, u := range urges[:most] {
			all = append(all, diskRun{d, fmt.Sprintf("R%d", len(all)), u})
		}
	}
	for _, d := range usualDeeds[:testmain.Many(2, 4, len(usualDeeds))] {
		add(d, testmain.Many(3, 3, 9))
	}
	draw := rapid.Custom(drawnDeed)
	for k := range testmain.Many(1, 4, 400) {
		add(draw.Example(k), 3)
	}
	return all
}

// logged does the deeds on a real disk, and returns the log of its device.
func logged(t *testing.T, fs realFS, dir string, runs []diskRun) []event {
	d, err := newDevice(dir+"/image", dir)
	if err != nil {
		notCompared(t, fs.disk.String(), fmt.Errorf("a device that logs: %w", err))
	}
	mount := dir + "/before"
	if err := mountLoop(d.file, mount, fs.disk.String(), fs.options, true); err != nil {
		_, _ = d.close()
		notCompared(t, fs.disk.String(), fmt.Errorf("mounting it on a loop device: %w", err))
	}
	err = doAll(d, fs, mount, runs)
	require.NoError(t, again(func() error { return unix.Unmount(mount, 0) }))
	log, closed := d.close()
	require.NoError(t, err)
	require.NoError(t, closed)
	return log
}

func doAll(d *device, fs realFS, mount string, runs []diskRun) error {
	m, err := kernel.New(kernel.Options{Disk: mount, CallsOnly: true})
	if err != nil {
		return err
	}
	defer m.Close()
	if err := os.WriteFile(mount+"/urged", nil, 0o600); err != nil {
		return err
	}
	for i, r := range runs {
		if err := r.do(d, m, mount, i, fs.disk); err != nil {
			return fmt.Errorf("%s: %w", r.deed, err)
		}
		if err := m.Reset(); err != nil {
			return err
		}
	}
	return nil
}

func (r diskRun) do(d *device, m *kernel.Machine, mount string, n int, disk fsfake.Disk) error {
	task := fsfake.Task{Pid: firstPid, N: 1}
	if err := m.AddProc(fsfake.ProcSpec{Pid: task.Pid}); err != nil {
		return err
	}
	here := doer{"/" + r.dir, func(op fsfake.Op) (fsfake.Result, error) { return m.Do(task, op) }, map[string]int{}}
	if err := os.Mkdir(mount+here.dir, 0o755); err != nil {
		return err
	}
	for _, s := range beforeDeeds.steps() {
		if _, err := here.step(s); err != nil {
			return err
		}
	}
	if err := errors.Join(settle(mount, disk == fsfake.DiskXfs), d.mark(fmt.Sprint("run ", n))); err != nil {
		return err
	}
	said := modelOf(r.deed, disk, false).said
	for i, s := range r.deed.steps() {
		answer, err := here.step(s)
		if err == nil && answer != said[i] {
			err = fmt.Errorf("%s: the model says %s, the kernel %s", s, said[i], answer)
		}
		if err == nil {
			err = d.mark("step")
		}
		if err == nil {
			err = urge(r.urges[i], mount, here.dir, disk)
		}
		if err != nil {
			return err
		}
	}
	// Without what was, images of the disk stay small.
	return errors.Join(settle(mount, false), d.mark("end"), os.RemoveAll(mount+here.dir))
}

// settle puts everything on the disk, and leaves nothing in its log where that is wanted: a cut of xfs replays it all.
func settle(mount string, logToo bool) error {
	f, err := os.Open(mount)
	if err != nil {
		return err
	}
	defer f.Close()
	const freeze, thaw = 0xC0045877, 0xC0045878
	if eight := make([]byte, 8); logToo {
		return errors.Join(ioctl(int(f.Fd()), freeze, eight), ioctl(int(f.Fd()), thaw, eight))
	}
	return unix.Syncfs(int(f.Fd()))
}

// urge has the kernel write: d the data of files, j what it keeps of names and sizes.
func urge(what byte, mount, dir string, disk fsfake.Disk) error {
	switch what {
	case 'd':
		return urgeData(mount + dir)
	case 'j':
		name, sync := mount, func(fd int) error { return startAndWait(fd) }
		if disk != fsfake.DiskBtrfs {
			name, sync = mount+"/urged", unix.Fsync
		}
		f, err := os.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if disk != fsfake.DiskBtrfs {
			if err := os.WriteFile(name, []byte(time.Now().String()), 0o600); err != nil {
				return err
			}
		}
		return sync(int(f.Fd()))
	}
	return nil
}

// startAndWait commits a transaction of btrfs.
func startAndWait(fd int) error {
	const startSync, waitSync = 0x80089418, 0x40089416
	id := make([]byte, 8)
	if err := ioctl(fd, startSync, id); err != nil {
		return err
	}
	return ioctl(fd, waitSync, id)
}

func urgeData(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := dir + "/" + e.Name()
		switch {
		case err != nil:
			return err
		case e.IsDir():
			err = urgeData(name)
		case e.Type().IsRegular():
			var f *os.File
			if f, err = os.Open(name); err == nil {
				const waitBeforeWriteWaitAfter = 7
				err = unix.SyncFileRange(int(f.Fd()), 0, 0, waitBeforeWriteWaitAfter)
				_ = f.Close()
			}
		}
	}
	return err
}
