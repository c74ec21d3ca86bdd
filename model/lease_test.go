package model

func leaseFixture() fixture {
	return fixture{
		spec: Lease(),
		rows: []row{
			{LeaseState{}, Grant{"A"}, []Outcome{{LeaseState{1, 0}, Granted{1}}}},
			{LeaseState{2, 1}, Grant{"A"}, []Outcome{{LeaseState{3, 1}, Granted{3}}}},
			{LeaseState{2, 0}, Use{1}, []Outcome{{LeaseState{2, 1}, Used{true}}}},
			{LeaseState{2, 1}, Use{1}, []Outcome{{LeaseState{2, 1}, Used{true}}}},
			{LeaseState{2, 2}, Use{1}, []Outcome{{LeaseState{2, 2}, Used{false}}}},
			{LeaseState{2, 2}, Use{3}, []Outcome{{LeaseState{2, 2}, Used{false}}}},
			{LeaseState{}, Use{0}, []Outcome{{LeaseState{}, Used{false}}}},
		},
		accepts: []named{
			{"overtaken and refused", seq(Grant{"A"}, Granted{1}, Grant{"B"}, Granted{2}, Use{2}, Used{true}, Use{1}, Used{false})},
			{"late, but before the next was used", seq(Grant{"A"}, Granted{1}, Grant{"B"}, Granted{2}, Use{1}, Used{true}, Use{2}, Used{true})},
			{"a gap left by the dead", []event{invoke(0, Grant{"A"}), ret(0, Pending{}), invoke(1, Grant{"B"}), ret(1, Granted{2})}},
		},
		rejects: []named{
			{"one token twice", seq(Grant{"A"}, Granted{1}, Grant{"B"}, Granted{1})},
			{"overtaken and accepted", seq(Grant{"A"}, Granted{1}, Grant{"B"}, Granted{2}, Use{2}, Used{true}, Use{1}, Used{true})},
			{"refused for nothing", seq(Grant{"A"}, Granted{1}, Use{1}, Used{false})},
			{"never granted", seq(Use{1}, Used{true})},
		},
		wrong: []wrong{
			{"no fence", with(Lease(), op(func(s LeaseState, _ Use) []Next[LeaseState, Used] {
				return only(s, Used{true})
			}))},
			{"the newest only", with(Lease(), op(func(s LeaseState, in Use) []Next[LeaseState, Used] {
				return only(s, Used{in.Token == s.Granted})
			}))},
			{"one token for all", with(Lease(), op(func(s LeaseState, _ Grant) []Next[LeaseState, Granted] {
				s.Granted = 1
				return only(s, Granted{1})
			}))},
		},
		inputs:  []any{Grant{"A"}, Grant{"B"}, Use{1}, Use{2}, Use{3}},
		outputs: []any{Granted{1}, Granted{2}, Used{true}, Used{false}},
	}
}
