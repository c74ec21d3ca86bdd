package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/real"
	"lockpick/scenarios"
	"lockpick/sched"
)

// onDisk replays a schedule on the real disk, times over, and says in a line how often
// every call and the whole disk came out as on the fake. A run that differs is shown and
// makes the exit code that of a differing verdict.
func (a *app) onDisk(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule, times int) error {
	same := 0
	var last real.Report
	for range times {
		r, err := real.Replay(ctx, sc, p, s)
		if err != nil {
			return fmt.Errorf("--real: %w", err)
		}
		last = r
		if len(r.Mismatches) == 0 {
			same++
			continue
		}
		for _, m := range r.Mismatches {
			a.note("real: %s", m)
		}
	}
	verdict := "is the same on the real disk"
	if last.Broken {
		verdict = "breaks " + p.ID + " on the real disk"
	}
	if same < times {
		a.worsen(ExitDiffers)
		verdict = "differs on the real disk"
	}
	_, err := fmt.Fprintf(a.stdout, "\nreal    %s: %d of %d runs went as on the fake; %d calls and %d states of the disk compared%s\n",
		verdict, same, times, last.Compared, last.Disks, emulated(last.Emulated))
	return err
}

// emulated lists what could not be real.
func emulated(counts map[string]int) string {
	var words []string
	for call, n := range counts { // order does not matter: the words are sorted
		words = append(words, fmt.Sprintf("%s %d", call, n))
	}
	if len(words) == 0 {
		return ""
	}
	slices.Sort(words)
	return "; answered by the fake: " + strings.Join(words, ", ")
}
