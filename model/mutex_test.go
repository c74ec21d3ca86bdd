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
			{free, Acquire{Owner: "A"}, []Outcome{{a, ok}, {free, locked}}},
			{a, Acquire{Owner: "A"}, []Outcome{{a2, shared}, {a, locked}}},
			{a, Acquire{Owner: "B"}, []Outcome{{a, locked}}},
			{free, Release{Owner: "A"}, []Outcome{{free, Released{}}}},
			{a, Release{Owner: "A"}, []Outcome{{free, Released{}}}},
			{a2, Release{Owner: "A"}, []Outcome{{a, Released{}}}},
			{a, Release{Owner: "B"}, []Outcome{{a, Released{}}}},
			{a2, Crash{"A"}, []Outcome{{free, Crashed{}}}},
			{a, Crash{"B"}, []Outcome{{a, Crashed{}}}},
			{free, Crash{"A"}, []Outcome{{free, Crashed{}}}},
		},
		accepts: []named{
			{"one after the other", seq(Acquire{Owner: "A"}, ok, Release{Owner: "A"}, Released{}, Acquire{Owner: "B"}, ok)},
			{"refused for nothing", seq(Acquire{Owner: "A"}, locked)},
			{"joined, and left twice", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "A"}, shared,
				Release{Owner: "A"}, Released{}, Release{Owner: "A"}, Released{}, Acquire{Owner: "B"}, ok)},
			{"after the owner's death", seq(Acquire{Owner: "A"}, ok, Crash{"A"}, Crashed{}, Acquire{Owner: "B"}, ok)},
			{"while the release is under way", []event{invoke(0, Acquire{Owner: "A"}), ret(0, ok),
				invoke(0, Release{Owner: "A"}), invoke(1, Acquire{Owner: "B"}), ret(1, ok)}},
			{"an acquisition that was killed", []event{invoke(0, Acquire{Owner: "A"}), ret(0, Pending{}),
				invoke(1, Acquire{Owner: "B"}), ret(1, ok)}},
		},
		rejects: []named{
			{"two owners", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, ok)},
			{"two owners that overlap", []event{invoke(0, Acquire{Owner: "A"}), invoke(1, Acquire{Owner: "B"}), ret(1, ok), ret(0, ok)}},
			{"one owner twice without sharing", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "A"}, ok)},
			{"joining what is free", seq(Acquire{Owner: "A"}, shared)},
			{"left once of two", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "A"}, shared, Release{Owner: "A"}, Released{}, Acquire{Owner: "B"}, ok)},
			{"after a stranger's release", seq(Acquire{Owner: "A"}, ok, Release{Owner: "B"}, Released{}, Acquire{Owner: "B"}, ok)},
			{"after a namesake's death", seq(Acquire{Owner: "AB"}, ok, Crash{"A"}, Crashed{}, Acquire{Owner: "B"}, ok)},
			{"after the death of a killed release", []event{invoke(0, Acquire{Owner: "A"}), ret(0, ok),
				invoke(1, Release{Owner: "B"}), ret(1, Pending{}), invoke(2, Acquire{Owner: "C"}), ret(2, ok)}},
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
		inputs: []any{Acquire{Owner: "A"}, Acquire{Owner: "A"}, Acquire{Owner: "B"}, Acquire{Owner: "B"}, Release{Owner: "A"}, Release{Owner: "B"}, Crash{"A"}},
		outputs: []any{
			ok, shared, locked, Released{}, Crashed{},
		},
	}
}
