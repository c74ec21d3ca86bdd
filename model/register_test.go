package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func registerFixture() fixture {
	return fixture{
		spec: Register(),
		rows: []row{
			{RegisterState{}, Write{"v"}, []Outcome{{RegisterState{"v"}, Written{}}}},
			{RegisterState{"v"}, Write{"w"}, []Outcome{{RegisterState{"w"}, Written{}}}},
			{RegisterState{"v"}, Read{}, []Outcome{{RegisterState{"v"}, ReadValue{"v"}}}},
		},
		accepts: []named{
			{"what was written", seq(Write{"v"}, Written{}, Read{}, ReadValue{"v"})},
			{"before or after", []event{invoke(0, Write{"v"}), invoke(1, Read{}), ret(1, ReadValue{""}),
				invoke(1, Read{}), ret(1, ReadValue{"v"}), ret(0, Written{})}},
		},
		rejects: []named{
			{"half of it", []event{invoke(0, Write{"vw"}), invoke(1, Read{}), ret(1, ReadValue{"v"}), ret(0, Written{})}},
			{"truncated", []event{invoke(0, Write{"v"}), ret(0, Written{}), invoke(0, Write{"w"}), invoke(1, Read{}), ret(1, ReadValue{""})}},
			{"new, then old", []event{invoke(0, Write{"v"}), invoke(1, Read{}), ret(1, ReadValue{"v"}),
				invoke(1, Read{}), ret(1, ReadValue{""}), ret(0, Written{})}},
		},
		wrong: []wrong{
			{"the first write stays", with(Register(), On(func(s RegisterState, in Write) []Next[RegisterState, Written] {
				if s.Value == "" {
					s.Value = in.Value
				}
				return append(Only(s, Written{}), Only(RegisterState{}, Written{})...)
			}))},
			{"reads may tear", with(Register(), On(func(s RegisterState, _ Read) []Next[RegisterState, ReadValue] {
				return []Next[RegisterState, ReadValue]{{State: s, AnyOutput: true}}
			}))},
		},
		inputs:  []any{Write{"v"}, Write{"w"}, Read{}, Read{}},
		outputs: []any{Written{}, ReadValue{""}, ReadValue{"v"}, ReadValue{"w"}},
	}
}

func TestRegisterWithAnInitialValue(t *testing.T) {
	require.True(t, linearizable(RegisterWith("v"), seq(Read{}, ReadValue{"v"})))
	require.False(t, linearizable(RegisterWith("v"), seq(Read{}, ReadValue{""})))
}
