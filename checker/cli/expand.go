package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/scenarios"
)

// expandFlags are the flags of expand.
type expandFlags struct {
	setting  *settingFlags
	property string
	options  checker.ExpandOptions
	first    bool
	in       string
	cache    string
}

func (a *app) expandCommand() *cobra.Command {
	f := &expandFlags{}
	c := &cobra.Command{
		Use:   "expand SCENARIO",
		Short: "Write the successors of states, for spaces larger than one machine",
		Long: `Write the successors of states, one state a line, for spaces larger than one machine.

A line is a state's key, a blank, and the way there. Lines with one key are one state:
keep the one whose way is less, as bytes. The way begins with its cost, 14 bytes. The
last line is JSON and says what the states showed; "merge --states N" makes a verdict of
all such lines, where N is how many states there were. Each state is to be expanded once,
by whoever has its key; expand keeps nothing of it, so that a run that was lost is
repeated. docs/spark is a driver for Apache Spark.

    lockpick expand SCENARIO --first >level-0
    lockpick expand SCENARIO <level-0 >level-1 ...`,
		Args: exactly(1, "SCENARIO"),
		RunE: func(c *cobra.Command, args []string) error { return a.expand(c.Context(), c, args[0], f) },
	}
	c.ValidArgsFunction = a.completeID(false)
	f.setting = addSettingFlags(c)
	flags := c.Flags()
	flags.StringVar(&f.property, "property", "", "the property `P` (default the first that is claimed broken, or else the first claimed)")
	flags.BoolVar(&f.first, "first", false, "write the state where everything begins, and read nothing")
	flags.StringVar(&f.in, "in", "", "read states from `FILE` (default standard input)")
	flags.StringVar(&f.cache, "cache", "", "keep in `DIR` which rounds of retry loops were tried out, so that runs of this very program on this machine need not try them again")
	flags.BoolVar(&f.options.Monitors, "monitors", false, "let states remember monitors instead of histories: there are fewer")
	flags.BoolVar(&f.options.InOrder, "in-order", false, "tell states apart by who stepped last, too: expanded in the order of their costs, they show the smallest counterexample")
	a.completeProperties(c)
	return c
}

func (a *app) expand(ctx context.Context, c *cobra.Command, id string, f *expandFlags) error {
	sc, p, err := a.asked(id, f.property, f.setting)
	if err != nil {
		return err
	}
	f.setting.idle(a, c, sc)
	cache, err := f.open(&sc)
	if err != nil {
		return err
	}
	x, err := checker.NewExpansion(&sc, p, f.options)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(a.stdout)
	if f.first {
		s, err := x.First()
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w, s)
		return w.Flush()
	}
	in := io.Reader(os.Stdin)
	if f.in != "" {
		file, err := os.Open(f.in)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	if err := expandAll(ctx, x, in, w); err != nil {
		return err
	}
	shown, err := x.End(ctx)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(shown); err != nil {
		return err
	}
	return errors.Join(w.Flush(), f.keep(cache))
}

// open reads what earlier runs have kept, and returns the name of the file: it is of this program,
// this scenario and this setting only.
func (f *expandFlags) open(sc *scenarios.Scenario) (string, error) {
	f.options.Tried = &checker.Tried{}
	var err error
	if f.options.Program, err = programSum(); err != nil {
		return "", err
	}
	if f.cache == "" {
		return "", nil
	}
	h := sha256.Sum256([]byte(f.options.Program + "\n" + sc.ID + "\n" + sc.Setting.Format()))
	name := filepath.Join(f.cache, hex.EncodeToString(h[:16])+".json")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	if err == nil {
		err = json.Unmarshal(text, f.options.Tried)
	}
	if err != nil {
		return "", fmt.Errorf("--cache: %s: %w; remove the file", name, err)
	}
	return name, nil
}

// keep writes what was tried out for later runs, whole or not at all.
func (f *expandFlags) keep(name string) error {
	if name == "" {
		return nil
	}
	text, err := json.Marshal(f.options.Tried)
	if err != nil {
		return err
	}
	w, err := os.CreateTemp(f.cache, "tried")
	if err != nil {
		return fmt.Errorf("--cache: %w", err)
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err == nil {
		err = os.Rename(w.Name(), name)
	}
	if err != nil {
		_ = os.Remove(w.Name())
		return fmt.Errorf("--cache: %w", err)
	}
	return nil
}

// expandAll expands the states of all lines.
func expandAll(ctx context.Context, x *checker.Expansion, in io.Reader, w io.Writer) error {
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the last line has no end: it was cut")
		}
		if err == nil {
			err = ctx.Err()
		}
		var s checker.State
		if err == nil {
			s, err = checker.ParseState(strings.TrimSuffix(line, "\n"))
		}
		if err == nil {
			err = x.Expand(s, func(to checker.State) error {
				_, err := fmt.Fprintln(w, to)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}
