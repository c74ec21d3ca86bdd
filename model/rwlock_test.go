package model

func rwLockFixture() fixture {
	free := RWLockState{}
	a, ab := RWLockState{Readers: BagOf("A")}, RWLockState{Readers: BagOf("A", "B")}
	w := RWLockState{Writing: true, Writer: "A"}
	return fixture{
		spec: RWLock(),
		rows: []row{
			{free, RAcquire{Owner: "A"}, []Outcome{{a, ok}, {free, locked}}},
			{a, RAcquire{Owner: "B"}, []Outcome{{ab, ok}, {a, locked}}},
			{w, RAcquire{Owner: "A"}, []Outcome{{w, locked}}},
			{ab, RRelease{Owner: "B"}, []Outcome{{a, Released{}}}},
			{w, RRelease{Owner: "A"}, []Outcome{{w, Released{}}}},
			{free, WAcquire{Owner: "A"}, []Outcome{{w, ok}, {free, locked}}},
			{a, WAcquire{Owner: "A"}, []Outcome{{a, locked}}},
			{w, WAcquire{Owner: "B"}, []Outcome{{w, locked}}},
			{w, WRelease{Owner: "A"}, []Outcome{{free, Released{}}}},
			{w, WRelease{Owner: "B"}, []Outcome{{w, Released{}}}},
			{a, WRelease{Owner: "A"}, []Outcome{{a, Released{}}}},
			{ab, Crash{"A"}, []Outcome{{RWLockState{Readers: BagOf("B")}, Crashed{}}}},
			{w, Crash{"A"}, []Outcome{{free, Crashed{}}}},
		},
		accepts: []named{
			{"many read", seq(RAcquire{Owner: "A"}, ok, RAcquire{Owner: "B"}, ok, WAcquire{Owner: "C"}, locked)},
			{"read, then write", seq(RAcquire{Owner: "A"}, ok, RRelease{Owner: "A"}, Released{}, WAcquire{Owner: "B"}, ok)},
			{"the writer died", seq(WAcquire{Owner: "A"}, ok, Crash{"A"}, Crashed{}, RAcquire{Owner: "B"}, ok)},
		},
		rejects: []named{
			{"two write", seq(WAcquire{Owner: "A"}, ok, WAcquire{Owner: "B"}, ok)},
			{"read while written", seq(WAcquire{Owner: "A"}, ok, RAcquire{Owner: "B"}, ok)},
			{"write while read", seq(RAcquire{Owner: "A"}, ok, RAcquire{Owner: "B"}, ok, RRelease{Owner: "B"}, Released{}, WAcquire{Owner: "C"}, ok)},
			{"write after a reader's wrong release", seq(RAcquire{Owner: "A"}, ok, WRelease{Owner: "A"}, Released{}, WAcquire{Owner: "B"}, ok)},
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
		inputs: []any{RAcquire{Owner: "A"}, RAcquire{Owner: "B"}, RRelease{Owner: "A"}, RRelease{Owner: "B"},
			WAcquire{Owner: "A"}, WAcquire{Owner: "B"}, WRelease{Owner: "A"}, WRelease{Owner: "B"}, Crash{"A"}},
		outputs: []any{ok, locked, Released{}, Crashed{}},
	}
}
