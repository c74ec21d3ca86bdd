package model

func counterFixture() fixture {
	return fixture{
		spec: Counter(),
		rows: []row{
			{CounterState{}, Inc{}, []Outcome{{CounterState{1}, Value{1}}}},
			{CounterState{4}, Inc{}, []Outcome{{CounterState{5}, Value{5}}}},
			{CounterState{4}, Get{}, []Outcome{{CounterState{4}, Value{4}}}},
		},
		accepts: []named{
			{"counted", seq(Inc{}, Value{1}, Inc{}, Value{2}, Get{}, Value{2})},
			{"in the other order", []event{invoke(0, Inc{}), invoke(1, Inc{}), ret(0, Value{2}), ret(1, Value{1})}},
			{"a killed increment may count", []event{invoke(0, Inc{}), invoke(1, Inc{}), ret(1, Value{2})}},
		},
		rejects: []named{
			{"one lost", []event{invoke(0, Inc{}), invoke(1, Inc{}), ret(0, Value{1}), ret(1, Value{1})}},
			{"overtaken", seq(Inc{}, Value{2}, Inc{}, Value{1})},
			{"lost later", seq(Inc{}, Value{1}, Inc{}, Value{2}, Get{}, Value{1})},
		},
		wrong: []wrong{
			{"sticks at one", with(Counter(), On(func(CounterState, Inc) []Next[CounterState, Value] {
				return Only(CounterState{1}, Value{1})
			}))},
			{"reads nothing", with(Counter(), On(func(s CounterState, _ Get) []Next[CounterState, Value] {
				return Only(s, Value{})
			}))},
		},
		inputs:  []any{Inc{}, Inc{}, Get{}},
		outputs: []any{Value{0}, Value{1}, Value{2}, Value{3}},
	}
}
