package search

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/runs"
)

// What an exploration on disk needs to go on after it was interrupted, and how it takes that up.

// A kept is what stands in the file of that name after each level: everything else in the
// directory that it does not name is of no use.
type kept struct {
	Version int `json:"lockpick_disk"`
	// Program is that of [Disk].
	Program string `json:"program"`
	// Scenario, Property and Setting say what is asked, in words.
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	Setting  string `json:"setting"`
	// Done: there are no states left.
	Done bool `json:"done"`
	// The counts of [Coverage] up to this level.
	Depth       int      `json:"depth"`
	Transitions int      `json:"transitions"`
	Violations  int      `json:"violations"`
	Contended   int      `json:"contended"`
	Violated    []uint32 `json:"violated"`
	Seen        []uint32 `json:"seen"`
	SeenDepth   uint32   `json:"seen_depth"`
	// States are where they are.
	States runs.Listing `json:"states"`
	// Learned is how many states taught something, Known how much there was to know then, and
	// Chain names these states, and what follows from them, by their contents.
	Learned int    `json:"learned"`
	Known   int    `json:"known"`
	Chain   string `json:"chain"`
	// Sum is a checksum of all that, so that no count is believed that was changed.
	Sum string `json:"sum"`
}

// format writes it down, with the checksum.
func (k kept) format() ([]byte, error) {
	k.Sum = ""
	bare, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return nil, err
	}
	k.Sum = engine.Hash(bare)
	text, err := json.MarshalIndent(k, "", "  ")
	return append(text, '\n'), err
}

const (
	keptVersion = 2
	keptName    = "level.json"
	learnedName = "learned" // the file of a [learnLog]
)

// A learnLog is the states by which something new was learned, in order, in a file. Behind each
// stands what names the chain of states up to it by their contents: when that is what it was, a
// number means what it meant.
type learnLog struct {
	f     *os.File
	w     *bufio.Writer
	namer *engine.Namer
	chain learn.Fingerprint
	rows  int
	known int
}

// learned notes a state, if expanding it has taught something.
func (l *learnLog) learned(x *Explorer, w *worker, row []uint32) error {
	known := x.Known()
	if known == l.known {
		return nil
	}
	l.add(row)
	if err := errors.Join(binary.Write(l.w, binary.LittleEndian, row), binary.Write(l.w, binary.LittleEndian, l.chain)); err != nil {
		return err
	}
	l.follow(w, known)
	return nil
}

// add makes a state the last of the chain.
func (l *learnLog) add(row []uint32) {
	l.rows++
	l.chain = l.namer.Chain(l.chain, row)
}

// follow adds to the chain what follows from the state that was added last.
func (l *learnLog) follow(w *worker, known int) {
	l.known = known
	for i := range w.Out {
		l.chain = l.namer.Chain(l.chain, w.State(&w.Out[i]))
	}
}

// begin makes the directory's first level, or takes up the last, if one was completed.
func (s *diskSearch) begin(resume bool) error {
	s.log.namer, s.log.known = engine.NewNamer(s.x.Space), s.x.Known()
	s.next = runs.NewSorter(s.folder, 0)
	text, err := s.folder.Read(keptName)
	switch {
	case err == nil && resume:
		return s.resume(text)
	case err == nil:
		return fmt.Errorf("checker: %s: there are states of a search that did not end: resume it, or remove them", s.folder)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.folder.Keep(nil); err != nil {
		return err
	}
	if s.log.f, err = s.folder.Append(learnedName, 0); err != nil {
		return err
	}
	s.log.w = bufio.NewWriter(s.log.f)
	s.set = runs.NewSet(s.folder)
	if err := s.next.Add(s.x.Initial); err != nil {
		return err
	}
	if _, err := s.set.AddNew(s.next, 0); err != nil {
		return err
	}
	return s.keep()
}

// keep makes a level that was completed the one to be resumed.
func (s *diskSearch) keep() error {
	if err := errors.Join(s.log.w.Flush(), s.log.f.Sync()); err != nil {
		return fmt.Errorf("checker: %s: %w", s.folder, err)
	}
	k := kept{
		Version: keptVersion, Program: s.d.Program, Scenario: s.x.Sc.ID, Property: s.x.Property.ID, Setting: s.x.Sc.Setting.Format(), Done: s.done,
		Depth: s.c.Depth, Transitions: s.c.Transitions, Violations: s.c.Violations, Contended: s.c.Contended,
		Seen: s.seen, SeenDepth: s.seenDepth, States: s.set.Listing(),
		Learned: s.log.rows, Known: s.log.known, Chain: hex.EncodeToString(s.log.chain[:]),
	}
	for id := range s.c.Violated { // order does not matter: they are sorted
		k.Violated = append(k.Violated, id)
	}
	slices.Sort(k.Violated)
	text, err := k.format()
	if err != nil {
		return err
	}
	if err := s.folder.Write(keptName, text); err != nil {
		return err
	}
	return s.folder.Keep(k.States.Files(keptName, learnedName))
}

// resume takes up the level that was completed last.
func (s *diskSearch) resume(text []byte) error {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return fmt.Errorf("checker: %s: %s is damaged: remove the directory: %w", s.folder, keptName, err)
	}
	if err := k.fits(s.x, text, s.d.Program); err != nil {
		return fmt.Errorf("checker: %s: %w", s.folder, err)
	}
	err := s.folder.Keep(k.States.Files(keptName, learnedName))
	if err != nil {
		return err
	}
	if err := s.learnAgain(&k); err != nil {
		return err
	}
	if s.log.f, err = s.folder.Append(learnedName, int64(s.learnedBytes()*k.Learned)); err != nil {
		return err
	}
	s.log.w = bufio.NewWriter(s.log.f)
	if s.set, err = runs.Reopen(s.folder, k.States); err != nil {
		return err
	}
	s.c.Depth, s.c.Transitions, s.c.Violations, s.c.Contended = k.Depth, k.Transitions, k.Violations, k.Contended
	for _, id := range k.Violated {
		s.c.Violated[id] = struct{}{}
	}
	s.seen, s.seenDepth, s.done = k.Seen, k.SeenDepth, k.Done
	return nil
}

// fits reports what is of another search, or is not what was written.
func (k *kept) fits(x *Explorer, text []byte, program string) error {
	written, err := k.format()
	switch {
	case err != nil:
		return err
	case k.Version != keptVersion:
		return fmt.Errorf("its states are of version %d, and this program reads version %d: remove them", k.Version, keptVersion)
	case !bytes.Equal(written, text):
		return fmt.Errorf("%s is damaged: remove the directory", keptName)
	case k.Program != program:
		return errors.New("its states are of another build of the program: go on with that one, or remove them")
	case k.Scenario != x.Sc.ID || k.Property != x.Property.ID || k.Setting != x.Sc.Setting.Format():
		return fmt.Errorf("its states are of %s, %s, %q: ask for that, or choose another directory", k.Scenario, k.Property, k.Setting)
	}
	return nil
}

// learnAgain expands the states that have taught something, and sees that what they teach is what
// they taught.
func (s *diskSearch) learnAgain(k *kept) error {
	text, err := s.folder.Read(learnedName)
	if err != nil {
		return err
	}
	if k.Learned < 0 || len(text) < s.learnedBytes()*k.Learned {
		return s.other()
	}
	row := make([]uint32, s.x.Width())
	for range k.Learned {
		for i := range row {
			row[i], text = binary.LittleEndian.Uint32(text), text[4:]
		}
		if !s.x.Has(row) {
			return s.other()
		}
		if s.log.add(row); s.log.chain != learn.Fingerprint(text[:len(s.log.chain)]) {
			return s.other()
		}
		text = text[len(s.log.chain):]
		if err := s.w.Expand(row); err != nil {
			return err
		}
		if _, _, err := s.x.BadEnd(s.w.Expander, row); err != nil {
			return err
		}
		s.log.follow(s.w, s.x.Known())
	}
	if s.log.known != k.Known || hex.EncodeToString(s.log.chain[:]) != k.Chain {
		return s.other()
	}
	return nil
}

// learnedBytes is what a state takes in the file.
func (s *diskSearch) learnedBytes() int { return 4*s.x.Width() + len(s.log.chain) }

// other is the error of states that do not belong to the programs.
func (s *diskSearch) other() error {
	return fmt.Errorf("checker: %s: its states are of another version of lockpick or of %s, or damaged: remove them", s.folder, s.x.Sc.ID)
}
