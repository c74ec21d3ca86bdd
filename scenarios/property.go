package scenarios

import "lockpick/model"

// A Property is what a scenario is asked about. The set is closed and the ids are
// used everywhere: flags, JSON, tests.
type Property string

// The properties.
const (
	// MutualExclusion: two parties are never inside the critical section together.
	MutualExclusion Property = "mutual-exclusion"
	// LostUpdate: what an operation added is still there afterwards.
	LostUpdate Property = "lost-update"
	// Duplicate: no entry is appended twice.
	Duplicate Property = "duplicate"
	// ForeignRelease: no release or cleanup removes or overwrites somebody else's lock:
	// while a task holds, the object at the lock's name is the one it acquired.
	ForeignRelease Property = "foreign-release"
	// TornRead: a read returns what one write wrote.
	TornRead Property = "torn-read"
	// OwnerInfo: the recorded holder is right while the lock is held.
	OwnerInfo Property = "owner-info"
	// SpuriousFailure: nobody is told "locked" while nobody holds.
	SpuriousFailure Property = "spurious-failure"
	// Deadlock: there is no reachable state where somebody is unfinished and nobody can
	// ever move again.
	Deadlock Property = "deadlock"
	// Wedge: there is no reachable state where every process has finished or died, and a
	// fresh process, running alone with time passing, never acquires.
	Wedge Property = "wedge"
	// Starvation: there is no weakly fair cycle in which somebody keeps trying and never
	// acquires.
	Starvation Property = "starvation"
)

// Properties lists the properties in the order of reports.
func Properties() []Property {
	return []Property{
		MutualExclusion, LostUpdate, Duplicate, ForeignRelease, TornRead,
		OwnerInfo, SpuriousFailure, Deadlock, Wedge, Starvation,
	}
}

// A Judgement is the kind of evidence that decides a property. Kinds are never mixed.
type Judgement string

// The kinds of judgement.
const (
	// ByHistory: operations and what they answered, against a model, by porcupine.
	ByHistory Judgement = "history"
	// ByInvariant: the machine and the current holders, in every state.
	ByInvariant Judgement = "invariant"
	// ByGraph: the graph of reachable states.
	ByGraph Judgement = "graph"
)

// Judgement returns the kind of judgement that decides p, or "" for a property that is
// not in the set.
func (p Property) Judgement() Judgement {
	switch p {
	case ForeignRelease:
		return ByInvariant
	case Deadlock, Wedge, Starvation:
		return ByGraph
	}
	if _, ok := p.Spec(); ok {
		return ByHistory
	}
	return ""
}

// Spec returns the sequential specification that decides p, and whether p is judged
// by history at all.
func (p Property) Spec() (model.Spec, bool) {
	switch p {
	case MutualExclusion:
		return model.Mutex(), true
	case LostUpdate:
		return model.Set(), true
	case Duplicate:
		return model.Log(), true
	case TornRead:
		return model.Register(), true
	case OwnerInfo:
		return model.OwnerRecord(), true
	case SpuriousFailure:
		return model.StrictMutex(), true
	}
	return model.Spec{}, false
}

// Decides reports whether the answer to an operation with this input can violate p, for
// the properties that are judged by history. A scenario none of whose operations does is
// no evidence for p.
func (p Property) Decides(input any) bool {
	switch p {
	case MutualExclusion, SpuriousFailure:
		_, ok := input.(model.Acquire)
		return ok
	case LostUpdate:
		_, ok := input.(model.Contains)
		return ok
	case Duplicate:
		_, ok := input.(model.Append)
		return ok
	case TornRead:
		_, ok := input.(model.Read)
		return ok
	case OwnerInfo:
		_, ok := input.(model.WhoHolds)
		return ok
	}
	return false
}
