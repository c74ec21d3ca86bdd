package all

import (
	"lockpick/scenarios"
)

// hazardOf says which hazard a setting's name is about, where the setting itself does not
// show it: what lies there at the start, who comes late, what a name means.
var hazardOf = map[string]string{
	"dead-owner":   scenarios.HazardDeadOwner,
	"moved-aside":  scenarios.HazardDeadOwner,
	"unlockers":    scenarios.HazardDeadOwner,
	"ext4":         scenarios.HazardFileSystem,
	"exits":        scenarios.HazardExit,
	"late-release": scenarios.HazardStall,
	"late-renewal": scenarios.HazardStall,
	"late-exit":    scenarios.HazardStall,
	"recycled-pid": scenarios.HazardPidReuse,
	"fork":         scenarios.HazardContention,
	"containers":   scenarios.HazardPidNamespace,
	"users":        scenarios.HazardPidNamespace,
	"spawn":        scenarios.HazardExit,
	"renamed-host": scenarios.HazardHostName,
	"two-hosts":    scenarios.HazardHostName,
}

// enter fills in where each scenario stands in the catalogue.
func enter(list []scenarios.Scenario) []scenarios.Scenario {
	shape := map[string]string{}
	for _, s := range Shapes() {
		for _, v := range s.Variants {
			shape[v] = s.ID
		}
	}
	for i := range list {
		sc := &list[i]
		sc.Entry = scenarios.Entry{
			Shape:    shape[sc.System()+"/"+sc.Variant()],
			Hazard:   hazardOf[sc.SettingName()],
			Projects: projects[sc.System()],
		}
	}
	return list
}
