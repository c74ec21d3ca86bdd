package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lockpick/checker"
	"lockpick/internal/numbers"
)

// SampleText writes what a sample showed: the timeline of its shrunk counterexample, if
// there is one, and what was drawn.
func SampleText(w io.Writer, s *checker.Sampled, so checker.SampleOptions, o Options) error {
	if err := Timeline(w, &s.Result, o); err != nil {
		return err
	}
	text := fmt.Sprintf("%s by strategy %s from seed %d", numbers.Count(s.Runs, "schedule", "schedules"), so.Strategy,
		so.Seed)
	if s.First >= 0 {
		text += fmt.Sprintf("; the first to break it is number %d, seed %d", s.First+1, so.Seed+uint64(s.First))
		if so.KeepGoing {
			text += fmt.Sprintf("; %s of them break it", numbers.Number(s.Failures))
		}
		if where := s.Elsewhere(); where != "" {
			text += "; " + where
		}
	}
	if o.Timings {
		text += fmt.Sprintf("; %s, %s a second", s.Elapsed.Round(time.Millisecond),
			numbers.Number(int(float64(s.Runs)/max(s.Elapsed.Seconds(), 1e-9))))
	}
	_, err := fmt.Fprintf(w, "%s\n\n", strings.Join(o.Tell("drawn", text), "\n"))
	return err
}
