package model

func leaseFixture() fixture {
	return fixture{
		spec: Lease(),
		rows: []row{
			{LeaseState{}, Grant{Owner: "A"}, []Outcome{{LeaseState{1, 0}, Granted{Token: 1}}, {LeaseState{}, Granted{Refused: true}}}},
			{LeaseState{2, 1}, Grant{Owner: "A"}, []Outcome{{LeaseState{3, 1}, Granted{Token: 3}}, {LeaseState{2, 1}, Granted{Refused: true}}}},
			{LeaseState{2, 0}, Use{Token: 1}, []Outcome{{LeaseState{2, 1}, Used{true}}}},
			{LeaseState{2, 1}, Use{Token: 1}, []Outcome{{LeaseState{2, 1}, Used{true}}}},
			{LeaseState{2, 2}, Use{Token: 1}, []Outcome{{LeaseState{2, 2}, Used{false}}}},
			{LeaseState{2, 2}, Use{Token: 3}, []Outcome{{LeaseState{2, 2}, Used{false}}}},
			{LeaseState{}, Use{Token: 0}, []Outcome{{LeaseState{}, Used{false}}}},
		},
		accepts: []named{
			{"overtaken and refused", seq(Grant{Owner: "A"}, Granted{Token: 1}, Grant{Owner: "B"}, Granted{Token: 2}, Use{Token: 2}, Used{true}, Use{Token: 1}, Used{false})},
			{"late, but before the next was used", seq(Grant{Owner: "A"}, Granted{Token: 1}, Grant{Owner: "B"}, Granted{Token: 2}, Use{Token: 1}, Used{true}, Use{Token: 2}, Used{true})},
			{"refused, and no token is used up", seq(Grant{Owner: "A"}, Granted{Refused: true}, Grant{Owner: "B"}, Granted{Token: 1}, Use{Token: 1}, Used{true})},
			{"a gap left by the dead", []event{invoke(0, Grant{Owner: "A"}), ret(0, Pending{}), invoke(1, Grant{Owner: "B"}), ret(1, Granted{Token: 2})}},
		},
		rejects: []named{
			{"one token twice", seq(Grant{Owner: "A"}, Granted{Token: 1}, Grant{Owner: "B"}, Granted{Token: 1})},
			{"overtaken and accepted", seq(Grant{Owner: "A"}, Granted{Token: 1}, Grant{Owner: "B"}, Granted{Token: 2}, Use{Token: 2}, Used{true}, Use{Token: 1}, Used{true})},
			{"refused for nothing", seq(Grant{Owner: "A"}, Granted{Token: 1}, Use{Token: 1}, Used{false})},
			{"never granted", seq(Use{Token: 1}, Used{true})},
		},
		wrong: []wrong{
			{"no fence", with(Lease(), On(func(s LeaseState, _ Use) []Next[LeaseState, Used] {
				return Only(s, Used{true})
			}))},
			{"the newest only", with(Lease(), On(func(s LeaseState, in Use) []Next[LeaseState, Used] {
				return Only(s, Used{in.Token == s.Granted})
			}))},
			{"one token for all", with(Lease(), On(func(s LeaseState, _ Grant) []Next[LeaseState, Granted] {
				s.Granted = 1
				return Only(s, Granted{Token: 1})
			}))},
		},
		inputs:  []any{Grant{Owner: "A"}, Grant{Owner: "B"}, Use{Token: 1}, Use{Token: 2}, Use{Token: 3}},
		outputs: []any{Granted{Refused: true}, Granted{Token: 1}, Granted{Token: 2}, Used{true}, Used{false}},
	}
}
