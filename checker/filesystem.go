package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockpick/scenarios"
)

// OnFileSystem is the verdict on one file system.
type OnFileSystem struct {
	// Name is one of [scenarios.FileSystems].
	Name    string
	Verdict Verdict
	// Result is what was found there, nil where nobody can tell that file system from another: then the
	// verdict is the one without.
	Result *Result
}

// Alike reports that the verdict on a scenario is the same on each of [scenarios.FileSystems]: nobody was told
// what not all of them say. r must be the result on the scenario, as for [FileSystems].
func (r *Result) Alike(of *scenarios.Scenario) bool {
	depends := r.Depends() || of.AssumesOneCase() && severalCases(of, r.looks)
	return r.Verdict != Unknown && r.looks.Profiled == 0 && !depends && (r.Verdict == Broken || !of.FilesHaveNames())
}

// on returns the result on a file system, of is on none, where it is known from r: nobody was told what is said otherwise
// there, or looked at the number of a file, unless nothing more is known of numbers there, as on xfs. So
// whatever r saw, it would have seen there, in each case.
func (r *Result) on(of, sc *scenarios.Scenario) (Result, bool) {
	inodes := sc.Setting.Assumed().Inodes
	more := inodes != of.Setting.Assumed().Inodes
	switch {
	case sc.AssumesOneCase(), r.Verdict == Unknown, more && r.looks.Inodes(), r.Depends(),
		r.looks.Profiled.Has(sc.Setting.Machine.Profile),
		r.Scenario.Setting.Assume != sc.Setting.Assume, // the result of one case
		sc.SplitsNames() && r.Verdict != Broken && of.FilesHaveNames():
		return Result{}, false
	}
	out := *r
	out.Scenario, out.Cases = sc, slices.Clone(r.Cases)
	for i := 0; more && i < len(out.Cases); i++ {
		out.Cases[i].Assume.Inodes = inodes
	}
	return out, true
}

// FileSystems says what becomes of a verdict on each of [scenarios.FileSystems]. Where nobody is told
// what not all of them say, that is known of all; otherwise it is known of those that say the same, and the
// property is decided on each of the others. r must be the result on the scenario, which is on none in
// particular and assumes nothing of inode numbers.
func FileSystems(ctx context.Context, of *scenarios.Scenario, r *Result, o Options) ([]OnFileSystem, error) {
	var out []OnFileSystem
	alike := r.Alike(of)
	if o.Tried == nil {
		o.Tried = &Tried{} // a program knows of the file system by what it is told only
	}
	for _, name := range scenarios.FileSystems() {
		on := OnFileSystem{Name: name, Verdict: r.Verdict}
		if !alike {
			sc, err := of.On(name)
			if err != nil {
				return nil, err
			}
			res, err := r.decidedOn(ctx, of, &sc, o)
			if err != nil {
				return nil, fmt.Errorf("%w (on %s)", err, name)
			}
			on.Verdict, on.Result = res.Verdict, &res
		}
		out = append(out, on)
	}
	return out, nil
}

// decidedOn decides the property of a result on a file system, unless the result says it all.
func (r *Result) decidedOn(ctx context.Context, of, sc *scenarios.Scenario, o Options) (Result, error) {
	if known, ok := r.on(of, sc); ok {
		return known, nil
	}
	res, err := Check(ctx, sc, r.Property, o)
	if errors.Is(err, ErrNothingToJudge) { // there nobody gets in, say
		res, err = NewResult(sc, r.Property, nil), nil
		res.Why = ErrNothingToJudge.Error()
	}
	return res, err
}
