package explain

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// A teller writes a cause, and notes the steps that it names.
type teller struct {
	*story
	text  strings.Builder
	steps []int
	act   int    // the step told last with did
	code  string // the kind of cause, where what was told says more than the mistake's name
}

// say adds to the text.
func (t *teller) say(format string, args ...any) { fmt.Fprintf(&t.text, format, args...) }

// at names a step.
func (t *teller) at(step int) string {
	if !slices.Contains(t.steps, step) {
		t.steps = append(t.steps, step)
	}
	return fmt.Sprintf("at step %d", step)
}

// did names the step with the call by which it went wrong.
func (t *teller) did(step int) string {
	t.act = step
	return t.at(step)
}

// called names what stands at a name: ".sync.lock (inode 1)".
func (s *story) called(f *trace.FileState) string {
	text := s.walk.Names.Short(f.Path)
	switch f.Kind {
	case fsfake.KindDir:
		text = "the directory " + text
	case fsfake.KindSymlink:
		text = "the symlink " + text
	case fsfake.KindFIFO, fsfake.KindSocket:
		text = "the " + f.Kind.String() + " " + text
	}
	var notes []string
	if n := s.walk.Inodes.Of(f.ID); n > 0 {
		notes = append(notes, fmt.Sprintf("inode %d", n))
	}
	if s.fromStart(f) {
		notes = append(notes, "there from the start")
	}
	if len(notes) == 0 {
		return text
	}
	return text + " (" + strings.Join(notes, ", ") + ")"
}

// object names an inode whose name has been told: "inode 1", "the directory (inode 1)".
func (s *story) object(f *trace.FileState) string {
	n := s.walk.Inodes.Of(f.ID)
	if n == 0 {
		return s.called(f)
	}
	switch f.Kind {
	case fsfake.KindDir:
		return fmt.Sprintf("the directory (inode %d)", n)
	case fsfake.KindSymlink:
		return fmt.Sprintf("the symlink (inode %d)", n)
	case fsfake.KindFIFO, fsfake.KindSocket:
		return fmt.Sprintf("the %s (inode %d)", f.Kind, n)
	}
	return fmt.Sprintf("inode %d", n)
}

// fromStart reports whether a file stood at its name before the first step.
func (s *story) fromStart(f *trace.FileState) bool {
	start := s.walk.Start.File(f.Path)
	return start.Exists && start.ID == f.ID
}

// A deed is what somebody did, in the past tense.
type deed struct{ verb, object string }

func (d deed) String() string { return d.verb + " " + d.object }

// had is what follows "had": "written to inode 1".
func (d deed) had() string {
	switch d.verb {
	case "wrote":
		return "written " + d.object
	}
	return d.String()
}

// deed tells what a change did; its verb is empty for one that is not worth telling.
func (s *story) deed(c *trace.Change) deed {
	was, is := s.object(&c.Before), s.object(&c.After)
	switch c.Kind {
	case trace.Created:
		return deed{making(&c.After), is}
	case trace.Linked:
		return deed{"linked", is + " there"}
	case trace.RenamedHere:
		return deed{"renamed", is + " into place"}
	case trace.Replaced:
		return deed{"put", is + " in the place of " + was}
	case trace.Unlinked:
		if c.Before.Kind == fsfake.KindDir {
			return deed{"removed", was}
		}
		return deed{"unlinked", was}
	case trace.RenamedAway:
		return deed{"renamed", was + " away to " + s.walk.Names.Short(c.Other)}
	case trace.Wrote:
		return deed{"wrote", "to " + is}
	case trace.Emptied:
		return deed{"emptied", is}
	case trace.Truncated:
		return deed{"truncated", is}
	}
	return deed{}
}

// data quotes what was read or written, shortened.
func (s *story) data(text string) string { return s.walk.Quote(text, 32) }

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
