//go:build linux

package fsfake_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/internal/testmain"
)

var (
	sequencesFlag = flag.Int("kernel.sequences", 0, "how many drawn `sequences` to compare with the kernel; 0 means "+
		"900, or 300 with -short and 200 with -race; LOCKPICK_LONG means 4500")
	seedFlag = flag.Int("kernel.seed", 1, "the seed of the first drawn sequence")
	cpusFlag = flag.Int("kernel.cpus", 4, "how many CPUs to use at most, a real machine on each")
	fsFlag   = flag.String("kernel.fs", "", "the `profile` that the fake has, when -kernel.dir is on such a file "+
		"system: ext4, xfs, btrfs, tmpfs; overlays have a test of their own")
	dirFlag = flag.String("kernel.dir", "", "where the real disks are made; empty means /dev/shm or the directory "+
		"for temporary files")
)

func TestMain(m *testing.M) {
	kernel.MaybeWorker()
	if os.Getenv(servesDevice) != "" {
		if err := serveDevice(); err != nil {
			fmt.Fprintln(os.Stderr, "the server of a device:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if *fsFlag != "" && !slices.Contains(fsfake.ProfileNames(), *fsFlag) {
		fmt.Fprintf(os.Stderr, "-kernel.fs: there is no profile %q; there are %s\n", *fsFlag, strings.Join(fsfake.ProfileNames(), ", "))
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// profile is what the fake is to be like.
func profile() fsfake.Profile {
	return fsfake.Profile(max(0, slices.Index(fsfake.ProfileNames(), *fsFlag)))
}

// numSequences is how many sequences are drawn. Every mutant of docs/mutants.md that drawn sequences show at all is
// shown by the first 242, but for one, which kept sequences and golden stories show, too; where tests are long twice
// as many are drawn as show that one.
func numSequences() int {
	switch {
	case *sequencesFlag > 0:
		return *sequencesFlag
	case raceEnabled:
		return 200
	case testing.Short():
		return 300
	case testmain.Long():
		return 4500
	}
	return 900
}

// onKernel runs f with a real machine, on a thread and a CPU of its own.
func onKernel(cpu int, f func(*kernel.Machine) error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		all := kernel.CPUs()   // asked before this thread has only one
		if err := kernel.Pin(all[cpu]); err != nil {
			done <- err
			return
		}
		m, err := kernel.New(kernel.Options{CPU: cpu, Dir: *dirFlag, CallsOnly: true})
		if err == nil {
			err = probe(m)
			if err == nil {
				err = f(m)
			}
			if e := m.Close(); err == nil {
				err = e
			}
		}
		done <- err
	}()
	return <-done
}

var probeOnce sync.Once

// probe finds out what the kernel and its file system can show.
func probe(m *kernel.Machine) error {
	var err error
	probeOnce.Do(func() {
		dir := m.Root() + "/probe"
		var st [2]unix.Stat_t
		multigrain = true
		for range 20 {
			for i := range st {
				if err = os.WriteFile(dir, nil, 0o600); err != nil {
					return
				}
				if err = unix.Stat(dir, &st[i]); err != nil {
					return
				}
			}
			multigrain = multigrain && st[0].Ctim != st[1].Ctim
		}
		if err = os.Remove(dir); err != nil {
			return
		}
		if err = os.MkdirAll(dir+"/x", 0o700); err != nil {
			return
		}
		if err = unix.Stat(dir, &st[0]); err != nil {
			return
		}
		dirLinks = st[0].Nlink == 3
		err = os.RemoveAll(dir)
		for name, on := range map[string]*bool{"protected_hardlinks": &protectedHardlinks, "protected_symlinks": &protectedSticky, "protected_regular": &protectedSticky} {
			b, _ := os.ReadFile("/proc/sys/fs/" + name)
			*on = *on || len(b) > 0 && b[0] != '0'
		}
	})
	return err
}

// numCPUs is how many CPUs are used.
func numCPUs() int { return min(len(kernel.CPUs()), max(*cpusFlag, 1)) }

// TestKernelDraws compares drawn sequences with the kernel.
func TestKernelDraws(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // little lives long here
	n := numSequences()
	gen := sequences(os.Geteuid() == 0, profile())
	var calls, passed atomic.Int64
	var next atomic.Int64
	var mu sync.Mutex
	var failure string
	seen := answered{}
	start := time.Now()
	var wg sync.WaitGroup
	errs := make([]error, numCPUs())
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = onKernel(i, func(m *kernel.Machine) error {
				mine := answered{}
				defer func() {
					mu.Lock()
					seen.add(mine)
					mu.Unlock()
				}()
				for {
					k := int(next.Add(1)) - 1
					mu.Lock()
					stop := failure != ""
					mu.Unlock()
					if k >= n || stop {
						return nil
					}
					seed := *seedFlag + k
					s := gen.Example(seed)
					p, wrong, err := runPair(m, s, mine)
					if err != nil {
						return fmt.Errorf("seed %d: %w\n%s", seed, err, s)
					}
					calls.Add(int64(p.calls))
					passed.Add(int64(p.passed))
					if wrong != nil {
						text, err := shrunk(m, s, wrong)
						if err != nil {
							return err
						}
						mu.Lock()
						if failure == "" {
							failure = fmt.Sprintf("seed %d: %s", seed, text)
						}
						mu.Unlock()
					}
				}
			})
		}()
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	t.Logf("%d sequences, %d calls on both sides, %d lines passed over, %v", n, calls.Load(), passed.Load(), time.Since(start).Round(time.Millisecond))
	switch {
	case os.Geteuid() != 0:
		t.Log("not root: one user, who may read everything; no path that climbs out of the directory")
	case protectedHardlinks || protectedSticky:
		t.Logf("sysctls fs.protected_*: hardlinks %t, symlinks or regular %t: what they forbid other users was not compared", protectedHardlinks, protectedSticky)
	}
	if !multigrain {
		t.Log("this kernel's timestamps are coarse: which calls change ctime and mtime was not compared")
	}
	if missing := notInTable(t, seen); len(missing) > 0 {
		t.Errorf("answers that %s does not have; add a sequence that shows them to testdata/kernel: %s", coverageDoc, strings.Join(missing, ", "))
	}
	if failure != "" {
		t.Fatalf("the fake and the kernel differ; keep it as a file in testdata/kernel\n%s", failure)
	}
}

// shrunk makes a failing sequence shorter and returns its transcripts and its text.
func shrunk(m *kernel.Machine, s sequence, wrong *mismatch) (string, error) {
	for size := len(s.lines); size >= 1; {
		cut := false
		for at := len(s.lines) - size; at >= 0; at -= size {
			c := s
			c.lines = append(append([]line(nil), s.lines[:at]...), s.lines[at+size:]...)
			_, w, err := runPair(m, c, nil)
			if err != nil {
				return "", err
			}
			if w != nil && w.what == wrong.what {
				s, wrong, cut = c, w, true
			}
		}
		if size = min(size, len(s.lines)); size == 1 && cut {
			continue
		}
		size /= 2
	}
	return wrong.String() + "\n" + s.String(), nil
}

// TestKernelKept replays the sequences that once showed a difference, and the scripted
// ones that provoke what is rarely drawn.
func TestKernelKept(t *testing.T) {
	testmain.OneWorker(t) // TestKernelDraws has several
	files, err := filepath.Glob("testdata/kernel/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	kept, err := keptSequences(files)
	require.NoError(t, err)
	seen, all := answered{}, true
	require.NoError(t, onKernel(0, func(m *kernel.Machine) error {
		for _, k := range kept {
			f, s := k.from, k.sequence
			if !m.Rooted() && s.needsRoot() {
				t.Logf("%s: only root can have several users, or pid namespaces", f)
				all = false
				continue
			}
			p, wrong, err := runPair(m, s, seen)
			if err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
			if wrong != nil {
				t.Errorf("%s: %s", f, wrong)
			}
			for _, l := range p.forbidden {
				all = false
				t.Logf("%s: on this machine this cannot be compared: %s", f, l)
			}
		}
		return nil
	}))
	if t.Failed() {
		return
	}
	checkCoverage(t, seen, all)
}

// A kept sequence is one that is always run.
type keptSequence struct {
	from string
	sequence
}

// keptSequences reads the files, and the examples of callTable.
func keptSequences(files []string) ([]keptSequence, error) {
	var all []keptSequence
	for _, f := range files {
		s, err := readSequence(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, keptSequence{f, s})
	}
	for _, c := range fsfake.Calls() {
		if text := rowOf(c).example; text != "" {
			s, err := parseSequence(text)
			if err != nil {
				return nil, fmt.Errorf("the example of %s: %w", c, err)
			}
			all = append(all, keptSequence{"the example of " + c.String(), s})
		}
	}
	return all, nil
}

func readSequence(file string) (sequence, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return sequence{}, err
	}
	return parseSequence(string(text))
}

// TestSequenceText: what is printed is read as it was.
func TestSequenceText(t *testing.T) {
	gen := sequences(true, profile())
	for seed := range 200 {
		s := gen.Example(seed)
		got, err := parseSequence(s.String())
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
}
