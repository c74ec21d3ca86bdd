package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/scenarios"
)

// settingFlags change the setting of a scenario: a flag for each field of the table that
// has one. A flag that is not given changes nothing.
type settingFlags struct{ given []*settingFlag }

// A settingFlag is the flag of one field. Its value is looked at when the command runs,
// not when the line is parsed, so that every bad value is told in the same words.
type settingFlag struct {
	field scenarios.Field
	text  string
	set   bool
}

// String, Set and Type make it a pflag.Value.
func (f *settingFlag) String() string { return f.text }
func (f *settingFlag) Type() string   { return "value" }
func (f *settingFlag) Set(text string) error {
	f.text, f.set = text, true
	return nil
}

func addSettingFlags(c *cobra.Command) *settingFlags {
	f := &settingFlags{}
	for _, field := range scenarios.Fields() {
		if field.Usage != "" {
			flag := &settingFlag{field: field}
			c.Flags().Var(flag, field.Flag, field.Usage)
			f.given = append(f.given, flag)
		}
	}
	return f
}

// validate reports values that make sense for no scenario.
func (f *settingFlags) validate() error {
	return f.change(&scenarios.Setting{})
}

// change makes the changes in a setting.
func (f *settingFlags) change(st *scenarios.Setting) error {
	for _, flag := range f.given {
		if flag.set {
			if err := flag.field.Set(st, flag.text); err != nil {
				return fmt.Errorf("--%s %w", flag.field.Flag, err)
			}
		}
	}
	return nil
}

// apply returns the scenario in the changed setting.
func (f *settingFlags) apply(sc scenarios.Scenario) (scenarios.Scenario, error) {
	st := sc.Setting
	if err := f.change(&st); err != nil {
		return sc, err
	}
	procs := func(flag *settingFlag) bool { return flag.set && flag.field.Flag == "procs" }
	sc.More = sc.More && !slices.ContainsFunc(f.given, procs)
	return sc.In(st)
}

// idle notes the flags that change nothing that matters in any of these scenarios.
func (f *settingFlags) idle(a *app, c *cobra.Command, list ...scenarios.Scenario) {
	for _, flag := range f.given {
		matters := slices.ContainsFunc(list, func(sc scenarios.Scenario) bool { return !flag.field.Moot(&sc.Setting) })
		a.idle(c, flag.field.Flag, matters, "it does not matter in any selected setting")
	}
}

// text is the flags as they were given, for people.
func (f *settingFlags) text() string {
	var words []string
	for _, flag := range f.given {
		if flag.set {
			words = append(words, "--"+flag.field.Flag+" "+flag.text)
		}
	}
	return strings.Join(words, " ")
}
