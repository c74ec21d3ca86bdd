package native

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"lockpick/internal/tempdir"
	"lockpick/internal/view"
)

// maxCommands bounds how many commands there are: 120 serial orders.
const maxCommands = 5

// A Check runs commands natively and knows their serial ends.
type Check struct {
	task    Task
	temp    tempdir.Dir // holds the start and copies
	orders  []order
	late    [][]int         // orders of which a run took too long
	rounds  int             // of serial runs
	runs    int             // serial
	calls   []int           // the most shared calls that a command has made in a serial run
	outside map[string]bool // files outside that every serial run of an order changes alike
	varies  map[string]bool // names of which the content is not compared
	loose   map[string]bool // directories of which the names are not compared: a random one, or a digest of a time
	several bool            // a command has several tasks
	cut     []string        // files of the directory that have names outside, too, which the copy does not have
	// onlyHere says what a command did that fails in a view only; empty for nothing.
	onlyHere string
	below    bool          // the copies lie on the file system that holds the directory, so that less fails
	sleeps   bool          // serial runs sleep for a good part of their time
	took     time.Duration // of the longest serial run

	mu     sync.Mutex         // of what runs find out
	ready  func() error       // waits for the serial runs, which come first
	atOnce func() *Found      // waits for runs of commands that sleep, of which none is held
	cancel context.CancelFunc // ends them
}

// Open copies the directory and makes the serial runs, or begins to where commands sleep. The error says in a sentence
// why commands cannot be run natively; where they sleep, whatever needs the serial runs says it.
func Open(ctx context.Context, t Task) (*Check, error) {
	if n := len(t.Commands); n < 1 || n > maxCommands {
		return nil, fmt.Errorf("%d commands have too many serial orders: at most %d can be run natively", n, maxCommands)
	}
	from, err := filepath.EvalSymlinks(t.From)
	if err != nil {
		return nil, err
	}
	if dir, err := filepath.EvalSymlinks(t.Dir); err == nil {
		t.Dir = dir
	}
	temp, err := tempdir.New()
	if err != nil {
		return nil, err
	}
	c := &Check{task: t, temp: temp, calls: make([]int, len(t.Commands)), outside: map[string]bool{},
		varies: map[string]bool{}, loose: map[string]bool{}}
	c.task.From = filepath.Join(temp.Path, "start")
	if err = os.Mkdir(c.task.From, 0o777); err == nil {
		err = view.CopyTree(from, c.task.From)
	}
	if err == nil {
		c.cut, err = view.NamedElsewhere(from)
	}
	c.sleeps = t.Sleeps
	ctx, c.cancel = context.WithCancel(ctx)
	c.ready = sync.OnceValue(func() error { return c.serial(ctx) })
	c.atOnce = sync.OnceValue(func() *Found { return c.runAtOnce(ctx) })
	switch {
	case err == nil && t.Sleeps:
		go func() { _ = c.ready() }()
		time.AfterFunc(time.Second, func() { _ = c.atOnce() }) // it takes less time, and all take long to start at once
	case err == nil:
		err = c.ready()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close removes what the check has copied, and ends its serial runs.
func (c *Check) Close() {
	c.cancel()
	_ = c.ready()
	_ = c.atOnce()
	c.temp.Remove()
}

// prepare fills in what all jobs have in common.
func (c *Check) prepare(j job) job {
	j.Commands, j.Dir, j.From, j.Outside = c.task.Commands, c.task.Dir, c.task.From, slices.Sorted(maps.Keys(c.outside))
	j.StallFor, j.Recover, j.Read = c.task.StallFor, c.task.Recover, c.task.Read
	if j.Again > 0 {
		j.Commands = append(slices.Clone(j.Commands), j.Commands[j.Again-1])
	}
	if j.Limit == 0 {
		j.Limit = c.limit()
	}
	return j
}

// do runs a job. Copies of every third one lie on the disk, where numbers of removed files may come back.
func (c *Check) do(ctx context.Context, j job) (*run, error) {
	if j.Below = c.below; j.Seed%3 == 2 && !c.below {
		dir, err := os.MkdirTemp(c.temp.Path, "copy")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		j.Copy = dir
	}
	return execute(ctx, &j, c.task.Env)
}

// limit is how long a run may take: a few times as long as a serial one.
func (c *Check) limit() time.Duration { return max(10*time.Second, 3*c.took) }

// all runs jobs side by side, and hands each to done in the order in which they end, until done says stop. Sleeping
// commands take no processor, so more of them run at once.
func (c *Check) all(ctx context.Context, jobs []job, done func(j *job, r *run) (goOn bool)) error {
	workers := runtime.GOMAXPROCS(0)
	c.mu.Lock()
	if c.runs == 0 { // whether they sleep is not known
		workers *= 2
	}
	if c.sleeps || len(jobs) > 0 && stallOf(jobs[0].Script) >= 0 {
		workers = 8 * workers
	}
	c.mu.Unlock()
	var wg sync.WaitGroup
	var failed error
	next, stop := 0, false
	for range min(workers, len(jobs)) {
		wg.Go(func() {
			for {
				c.mu.Lock()
				if stop || next == len(jobs) || ctx.Err() != nil {
					c.mu.Unlock()
					return
				}
				j := c.prepare(jobs[next])
				next++
				c.mu.Unlock()
				r, err := c.do(ctx, j)
				c.mu.Lock()
				switch {
				case ctx.Err() != nil: // it was cut off, and says nothing
				case err != nil:
					failed, stop = cmp.Or(failed, err), true
				case !stop:
					stop = !done(&j, r)
				}
				c.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}
