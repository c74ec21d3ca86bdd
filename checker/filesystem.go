package checker

import (
	"context"
	"errors"
	"fmt"

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
	depends := r.Depends() || of.External && severalCases(of, r.looks) // of programs the cases are not decided
	return r.Verdict != Unknown && !r.looks.Profiled && !depends && (r.Verdict == Broken || !of.FilesHaveNames())
}

// FileSystems says what becomes of a verdict on each of [scenarios.FileSystems]. Where nobody is told
// what not all of them say, that is known; otherwise the property is decided on each. r must be
// the result on the scenario, which is on none in particular and assumes nothing of inode numbers.
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
			res, err := Check(ctx, &sc, r.Property, o)
			if errors.Is(err, ErrNothingToJudge) { // there nobody gets in, say
				res, err = NewResult(&sc, r.Property, nil), nil
				res.Why = ErrNothingToJudge.Error()
			}
			if err != nil {
				return nil, fmt.Errorf("%w (on %s)", err, name)
			}
			on.Verdict, on.Result = res.Verdict, &res
		}
		out = append(out, on)
	}
	return out, nil
}
