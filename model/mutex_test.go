package model

var (
	ok     = Acquired{OK: true}
	shared = Acquired{OK: true, Shared: true}
	locked = Acquired{}
)

func mutexFixture() fixture {
	free, a, a2 := MutexState{}, MutexState{"A", 1}, MutexState{"A", 2}
	return fixture{
		spec: Mutex(),
		rows: []row{
			{free, Acquire{"A"}, []Outcome{{a, ok}, {free, locked}}},
			{a, Acquire{"A"}, []Outcome{{a2, shared}, {a, locked}}},
			{a, Acquire{"B"}, []Outcome{{a, locked}}},
			{free, Release{"A"}, []Outcome{{free, Released{}}}},
			{a, Release{"A"}, []Outcome{{free, Released{}}}},
			{a2, Release{"A"}, []Outcome{{a, Released{}}}},
			{a, Release{"B"}, []Outcome{{a, Released{}}}},
			{a2, Crash{"A"}, []Outcome{{free, Crashed{}}}},
			{a, Crash{"B"}, []Outcome{{a, Crashed{}}}},
			{free, Crash{"A"}, []Outcome{{free, Crashed{}}}},
		},
		accepts: []named{
			{"one after the other", seq(Acquire{"A"}, ok, Release{"A"}, Released{}, Acquire{"B"}, ok)},
			{"refused for nothing", seq(Acquire{"A"}, locked)},
			{"joined, and left twice", seq(Acquire{"A"}, ok, Acquire{"A"}, shared,
				Release{"A"}, Released{}, Release{"A"}, Released{}, Acquire{"B"}, ok)},
			{"after the owner's death", seq(Acquire{"A"}, ok, Crash{"A"}, Crashed{}, Acquire{"B"}, ok)},
			{"while the release is under way", []event{invoke(0, Acquire{"A"}), ret(0, ok),
				invoke(0, Release{"A"}), invoke(1, Acquire{"B"}), ret(1, ok)}},
			{"an acquisition that was killed", []event{invoke(0, Acquire{"A"}), ret(0, Pending{}),
				invoke(1, Acquire{"B"}), ret(1, ok)}},
		},
		rejects: []named{
			{"two owners", seq(Acquire{"A"}, ok, Acquire{"B"}, ok)},
			{"two owners that overlap", []event{invoke(0, Acquire{"A"}), invoke(1, Acquire{"B"}), ret(1, ok), ret(0, ok)}},
			{"one owner twice without sharing", seq(Acquire{"A"}, ok, Acquire{"A"}, ok)},
			{"joining what is free", seq(Acquire{"A"}, shared)},
			{"left once of two", seq(Acquire{"A"}, ok, Acquire{"A"}, shared, Release{"A"}, Released{}, Acquire{"B"}, ok)},
			{"after a stranger's release", seq(Acquire{"A"}, ok, Release{"B"}, Released{}, Acquire{"B"}, ok)},
			{"after a namesake's death", seq(Acquire{"AB"}, ok, Crash{"A"}, Crashed{}, Acquire{"B"}, ok)},
			{"after the death of a killed release", []event{invoke(0, Acquire{"A"}), ret(0, ok),
				invoke(1, Release{"B"}), ret(1, Pending{}), invoke(2, Acquire{"C"}), ret(2, ok)}},
		},
		wrong: []wrong{
			{"grants twice", with(Mutex(), On(func(s MutexState, in Acquire) []Next[MutexState, Acquired] {
				return []Next[MutexState, Acquired]{{State: MutexState{in.Owner, 1}, Output: ok}, {State: s}}
			}))},
			{"forgets the count", with(Mutex(), On(func(s MutexState, in Release) []Next[MutexState, Released] {
				if s.Owner == in.Owner {
					s = MutexState{}
				}
				return Only(s, Released{})
			}))},
			{"anybody releases", with(Mutex(), On(func(MutexState, Release) []Next[MutexState, Released] {
				return Only(MutexState{}, Released{})
			}))},
			{"never refuses for nothing", with(Mutex(), On(func(s MutexState, in Acquire) []Next[MutexState, Acquired] {
				return s.Acquire(in)[:1]
			}))},
			{"survives a crash", with(Mutex(), On(func(s MutexState, _ Crash) []Next[MutexState, Crashed] {
				return Only(s, Crashed{})
			}))},
		},
		inputs: []any{Acquire{"A"}, Acquire{"A"}, Acquire{"B"}, Acquire{"B"}, Release{"A"}, Release{"B"}, Crash{"A"}},
		outputs: []any{
			ok, shared, locked, Released{}, Crashed{},
		},
	}
}
