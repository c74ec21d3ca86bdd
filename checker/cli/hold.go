package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// holdAt is replay --stop-at: it starts a shell where the commands of a saved run work, while they stand still after a
// step. A terminal asks the shell there; what comes through a pipe is a script for it.
func (a *app) holdAt(ctx context.Context, r *replayed, f *replayFlags) error {
	if f.real {
		return errors.New("--stop-at and --real: choose one of them, both run the commands for real")
	}
	if r.run == nil {
		return fmt.Errorf("--stop-at %d: only commands have a directory; give a file that \"%s run --save FILE\" has "+
			"written", f.stopAt, a.name)
	}
	got, err := r.follow(r.properties[0])
	if err != nil {
		return err
	}
	tr := got.Counterexample.Trace
	if f.stopAt < 1 || f.stopAt > len(tr) {
		return fmt.Errorf("--stop-at %d: choose a step from 1 to %d", f.stopAt, len(tr))
	}
	return r.run.Hold(ctx, carrySteps(tr[:f.stopAt]), func(h command.Held) error { return a.shellIn(ctx, h, f.stopAt) })
}

// shellIn says where the commands are, and starts the shell. How the shell ends is its own affair.
func (a *app) shellIn(ctx context.Context, h command.Held, step int) error {
	c := exec.CommandContext(ctx, cmp.Or(a.env("SHELL"), "/bin/sh"))
	c.Dir, c.Stdin, c.Stdout, c.Stderr = h.Dir, os.Stdin, a.stdout, a.stderr
	c.Env = os.Environ()
	text := fmt.Sprintf("after step %d, in %s:\n", step, h.Dir)
	for i, pid := range h.Processes {
		name := scenarios.ProcessName(i)
		if pid == 0 {
			text += fmt.Sprintf("  %s has not started, or has ended\n", name)
			continue
		}
		text += fmt.Sprintf("  %s stands still as process %d, $%s: see /proc/$%s/fd\n", name, pid, name, name)
		c.Env = append(c.Env, fmt.Sprintf("%s=%d", name, pid))
	}
	text += "When the shell ends, the commands and the directory are gone. No debugger can attach: lockpick traces them.\n"
	if _, err := fmt.Fprint(a.stdout, text); err != nil {
		return err
	}
	var failed *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("--stop-at: no shell: %w; set SHELL to one", err)
	}
	return nil
}
