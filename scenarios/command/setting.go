package command

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/scenarios"
)

// Fields lists the fields of a setting that commands have, in the order of [scenarios.Fields]. A spec
// has them by the names of their flags: in archives, in [Spec.Set], and as flags of run.
func Fields() []scenarios.Field {
	return slices.DeleteFunc(scenarios.Fields(), func(f scenarios.Field) bool { return f.OfCommands == "" })
}

// setField sets a field of the setting.
func (s *Spec) setField(name, value string) error {
	names := []string{"dir", "inside", "recover", "read", "refused", "ignore", "stdout", "left", "living", "timeout"}
	for _, f := range Fields() {
		if f.Flag != name {
			names = append(names, f.Flag)
			continue
		}
		if err := f.Set(&s.Setting, value); err != nil {
			return fmt.Errorf("command: %s %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("command: setting %q is unknown: choose %s or env", name, strings.Join(names, ", "))
}

// validateSetting reports a field that is set and that commands do not honour.
func (s *Spec) validateSetting() error {
	var honoured scenarios.Setting
	for _, f := range Fields() {
		f.Copy(&honoured, &s.Setting)
	}
	if changed := s.Changed(honoured); len(changed) > 0 {
		return fmt.Errorf("command: %s: commands have no such setting: leave it out", changed[0])
	}
	return nil
}
