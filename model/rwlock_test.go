package model

func rwLockFixture() fixture {
	free := RWLockState{}
	a, ab := RWLockState{Readers: BagOf("A")}, RWLockState{Readers: BagOf("A", "B")}
	w := RWLockState{Writing: true, Writer: "A"}
	return fixture{
		spec: RWLock(),
		rows: []row{
			{free, RAcquire{"A"}, []Outcome{{a, ok}, {free, locked}}},
			{a, RAcquire{"B"}, []Outcome{{ab, ok}, {a, locked}}},
			{w, RAcquire{"A"}, []Outcome{{w, locked}}},
			{ab, RRelease{"B"}, []Outcome{{a, Released{}}}},
			{w, RRelease{"A"}, []Outcome{{w, Released{}}}},
			{free, WAcquire{"A"}, []Outcome{{w, ok}, {free, locked}}},
			{a, WAcquire{"A"}, []Outcome{{a, locked}}},
			{w, WAcquire{"B"}, []Outcome{{w, locked}}},
			{w, WRelease{"A"}, []Outcome{{free, Released{}}}},
			{w, WRelease{"B"}, []Outcome{{w, Released{}}}},
			{a, WRelease{"A"}, []Outcome{{a, Released{}}}},
			{ab, Crash{"A"}, []Outcome{{RWLockState{Readers: BagOf("B")}, Crashed{}}}},
			{w, Crash{"A"}, []Outcome{{free, Crashed{}}}},
		},
		accepts: []named{
			{"many read", seq(RAcquire{"A"}, ok, RAcquire{"B"}, ok, WAcquire{"C"}, locked)},
			{"read, then write", seq(RAcquire{"A"}, ok, RRelease{"A"}, Released{}, WAcquire{"B"}, ok)},
			{"the writer died", seq(WAcquire{"A"}, ok, Crash{"A"}, Crashed{}, RAcquire{"B"}, ok)},
		},
		rejects: []named{
			{"two write", seq(WAcquire{"A"}, ok, WAcquire{"B"}, ok)},
			{"read while written", seq(WAcquire{"A"}, ok, RAcquire{"B"}, ok)},
			{"write while read", seq(RAcquire{"A"}, ok, RAcquire{"B"}, ok, RRelease{"B"}, Released{}, WAcquire{"C"}, ok)},
			{"write after a reader's wrong release", seq(RAcquire{"A"}, ok, WRelease{"A"}, Released{}, WAcquire{"B"}, ok)},
		},
		wrong: []wrong{
			{"one reader's release is everybody's", with(RWLock(), On(func(RWLockState, RRelease) []Next[RWLockState, Released] {
				return Only(RWLockState{}, Released{})
			}))},
			{"one reader at a time", with(RWLock(), On(func(s RWLockState, in RAcquire) []Next[RWLockState, Acquired] {
				if s != (RWLockState{}) {
					return Only(s, locked)
				}
				return s.RAcquire(in)
			}))},
		},
		inputs: []any{RAcquire{"A"}, RAcquire{"B"}, RRelease{"A"}, RRelease{"B"},
			WAcquire{"A"}, WAcquire{"B"}, WRelease{"A"}, WRelease{"B"}, Crash{"A"}},
		outputs: []any{ok, locked, Released{}, Crashed{}},
	}
}
