package model

func setFixture() fixture {
	empty, x, xy := SetState{}, SetState{BagOf("x")}, SetState{BagOf("x", "y")}
	return fixture{
		spec: Set(),
		rows: []row{
			{empty, Add{"x"}, []Outcome{{x, Added{}}}},
			{x, Add{"x"}, []Outcome{{x, Added{}}}},
			{x, Add{"y"}, []Outcome{{xy, Added{}}}},
			{x, Contains{"x"}, []Outcome{{x, Found{true}}}},
			{x, Contains{"y"}, []Outcome{{x, Found{false}}}},
		},
		accepts: []named{
			{"found", seq(Add{"x"}, Added{}, Contains{"x"}, Found{true}, Contains{"y"}, Found{false})},
			{"found early", []event{invoke(0, Add{"x"}), invoke(1, Contains{"x"}), ret(1, Found{true}), ret(0, Added{})}},
			{"killed, and not added", []event{invoke(0, Add{"x"}), ret(0, Pending{}), invoke(1, Contains{"x"}), ret(1, Found{false})}},
			{"killed, and added", []event{invoke(0, Add{"x"}), ret(0, Pending{}), invoke(1, Contains{"x"}), ret(1, Found{true})}},
		},
		rejects: []named{
			{"lost", seq(Add{"x"}, Added{}, Add{"y"}, Added{}, Contains{"x"}, Found{false})},
			{"out of nothing", seq(Contains{"x"}, Found{true})},
			{"seen and lost", []event{invoke(0, Add{"x"}), invoke(1, Contains{"x"}), ret(1, Found{true}),
				invoke(1, Contains{"x"}), ret(1, Found{false})}},
			{"killed, added after its death", []event{invoke(0, Add{"x"}), ret(0, Pending{}),
				invoke(1, Contains{"x"}), ret(1, Found{false}), invoke(1, Contains{"x"}), ret(1, Found{true})}},
		},
		wrong: []wrong{
			{"the last addition wins", with(Set(), On(func(_ SetState, in Add) []Next[SetState, Added] {
				return Only(SetState{BagOf(in.Key)}, Added{})
			}))},
			{"finds everything", with(Set(), On(func(s SetState, _ Contains) []Next[SetState, Found] {
				return Only(s, Found{true})
			}))},
		},
		inputs:  []any{Add{"x"}, Add{"y"}, Contains{"x"}, Contains{"y"}},
		outputs: []any{Added{}, Found{true}, Found{false}},
	}
}
