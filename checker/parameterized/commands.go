package parameterized

import (
	"context"
	"errors"

	"lockpick/checker/internal/discipline"
	"lockpick/scenarios"
)

// A Discipline is a lock that all copies of a command keep to.
type Discipline = discipline.Proof

// Commands proves that any number of copies of a command leave behind what they leave behind one after the other, and
// that all end. The scenario is one of two copies at least, in which no exit status counts as a refusal. Where there
// is no proof, why says why not.
func Commands(ctx context.Context, sc *scenarios.Scenario) (proof *Discipline, why string, err error) {
	proof, err = discipline.Prove(ctx, sc)
	var not discipline.NotProved
	if errors.As(err, &not) {
		return nil, not.Why, nil
	}
	return proof, "", err
}
