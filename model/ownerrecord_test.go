package model

func ownerRecordFixture() fixture {
	free, a, ab := holding(), holding("A"), holding("A", "B")
	return fixture{
		spec: OwnerRecord(),
		rows: []row{
			{free, Acquire{Owner: "A"}, []Outcome{{a, ok}, {a, shared}, {free, locked}}},
			{a, Acquire{Owner: "B"}, []Outcome{{ab, ok}, {ab, shared}, {a, locked}}},
			{a, Release{Owner: "A"}, []Outcome{{free, Released{}}}},
			{ab, Crash{"A"}, []Outcome{{holding("B"), Crashed{}}}},
			{free, WhoHolds{}, []Outcome{{free, Any{}}}},
			{a, WhoHolds{}, []Outcome{{a, Holder{"A"}}}},
			{holding("A", "A", "B"), WhoHolds{}, []Outcome{
				{holding("A", "A", "B"), Holder{"A"}}, {holding("A", "A", "B"), Holder{"B"}}}},
		},
		accepts: []named{
			{"the holder", seq(Acquire{Owner: "A"}, ok, WhoHolds{}, Holder{"A"})},
			{"anything while free", seq(WhoHolds{}, Holder{"nobody"}, WhoHolds{}, Holder{""})},
			{"one left over", seq(Acquire{Owner: "A"}, ok, Release{Owner: "A"}, Released{}, WhoHolds{}, Holder{"A"})},
			{"either of two", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, ok, WhoHolds{}, Holder{"A"}, WhoHolds{}, Holder{"B"})},
			{"while it is being taken", []event{invoke(0, Acquire{Owner: "A"}), invoke(1, WhoHolds{}), ret(1, Holder{""}), ret(0, ok)}},
			{"asked while free, answered while held", []event{invoke(1, WhoHolds{}), invoke(0, Acquire{Owner: "A"}), ret(0, ok), ret(1, Holder{"Z"})}},
			{"refusal and all", seq(Acquire{Owner: "A"}, locked, Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, locked)},
		},
		rejects: []named{
			{"erased while held", seq(Acquire{Owner: "A"}, ok, WhoHolds{}, Holder{""})},
			{"a predecessor's", seq(Acquire{Owner: "A"}, ok, Release{Owner: "A"}, Released{}, Acquire{Owner: "B"}, ok, WhoHolds{}, Holder{"A"})},
			{"one that was refused", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, locked, WhoHolds{}, Holder{"B"})},
			{"the dead one", seq(Acquire{Owner: "A"}, ok, Acquire{Owner: "B"}, ok, Crash{"A"}, Crashed{}, WhoHolds{}, Holder{"A"})},
		},
		wrong: []wrong{
			{"any answer will do", with(OwnerRecord(), On(func(h Holders, _ WhoHolds) []Next[Holders, Holder] {
				return []Next[Holders, Holder]{{State: h, AnyOutput: true}}
			}))},
			{"the first only", with(OwnerRecord(), On(func(h Holders, in WhoHolds) []Next[Holders, Holder] {
				return h.WhoHolds(in)[:1]
			}))},
			{"empty while free", with(OwnerRecord(), On(func(h Holders, in WhoHolds) []Next[Holders, Holder] {
				if h.Names == "" {
					return Only(h, Holder{})
				}
				return h.WhoHolds(in)
			}))},
		},
		inputs:  []any{Acquire{Owner: "A"}, Acquire{Owner: "B"}, Release{Owner: "A"}, Release{Owner: "B"}, Crash{"A"}, WhoHolds{}, WhoHolds{}},
		outputs: []any{ok, locked, Released{}, Crashed{}, Holder{"A"}, Holder{"B"}, Holder{""}},
	}
}
