package model

func holding(names ...string) Holders { return Holders{BagOf(names...)} }

func strictMutexFixture() fixture {
	free, a := holding(), holding("A")
	return fixture{
		spec: StrictMutex(),
		rows: []row{
			{free, Acquire{Owner: "A"}, []Outcome{{a, ok}, {a, shared}}},
			{a, Acquire{Owner: "B"}, []Outcome{{holding("A", "B"), ok}, {holding("A", "B"), shared}, {a, locked}}},
			{a, Release{Owner: "A"}, []Outcome{{free, Released{}}}},
			{a, Release{Owner: "B"}, []Outcome{{a, Released{}}}},
			{holding("A", "A", "B"), Release{Owner: "A"}, []Outcome{{holding("A", "B"), Released{}}}},
			{holding("A", "A", "B"), Crash{"A"}, []Outcome{{holding("B"), Crashed{}}}},
			{free, IsHeld{}, []Outcome{{free, Held{false}}}},
			{a, IsHeld{}, []Outcome{{a, Held{true}}}},
		},
		accepts: []named{
			{"refused by the holder", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, locked)},
			{"refused by one that will hold", []event{invoke(0, Acquire{Owner: "A"}), invoke(1, Acquire{Owner: "B"}), ret(1, locked), ret(0, ok)}},
			{"refused by one that is releasing", []event{invoke(0, Acquire{Owner: "A"}), ret(0, ok), invoke(0, Release{Owner: "A"}),
				invoke(1, Acquire{Owner: "B"}), ret(0, Released{}), ret(1, locked)}},
			{"refused by one that was killed", []event{invoke(0, Acquire{Owner: "A"}), invoke(1, Acquire{Owner: "B"}), ret(0, Pending{}), ret(1, locked)}},
			{"two owners are not its concern", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, ok)},
			{"the truth", seq(IsHeld{}, Held{false}, Acquire{Owner: "A"}, ok, IsHeld{}, Held{true})},
		},
		rejects: []named{
			{"refused for nothing", seq(Acquire{Owner: "A"}, locked)},
			{"refused after the release", seq(Acquire{Owner: "A"}, ok, Release{Owner: "A"}, Released{}, Acquire{Owner: "B"}, locked)},
			{"refused after the death", seq(Acquire{Owner: "A"}, ok, Crash{"A"}, Crashed{}, Acquire{Owner: "B"}, locked)},
			{"each refused by the other", []event{invoke(0, Acquire{Owner: "A"}), invoke(1, Acquire{Owner: "B"}), ret(0, locked), ret(1, locked)}},
			{"held by nobody", seq(IsHeld{}, Held{true})},
			{"held, denied", seq(Acquire{Owner: "A"}, ok, IsHeld{}, Held{false})},
		},
		wrong: []wrong{
			{"refuses for nothing", with(StrictMutex(), On(Holders.Acquire))},
			{"says held whenever asked", with(StrictMutex(), On(func(h Holders, _ IsHeld) []Next[Holders, Held] {
				return Only(h, Held{true})
			}))},
			{"survives a crash", with(StrictMutex(), On(func(h Holders, _ Crash) []Next[Holders, Crashed] {
				return Only(h, Crashed{})
			}))},
		},
		inputs:  []any{Acquire{Owner: "A"}, Acquire{Owner: "B"}, Acquire{Owner: "C"}, Release{Owner: "A"}, Release{Owner: "B"}, Crash{"A"}, IsHeld{}},
		outputs: []any{ok, locked, Released{}, Crashed{}, Held{true}, Held{false}},
	}
}
