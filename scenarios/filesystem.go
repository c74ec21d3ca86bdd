package scenarios

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
)

// FileSystems lists the names of the file systems that a setting can have, beside the one that does
// what programs may rely on: "ext4", "xfs", …
func FileSystems() []string {
	return slices.DeleteFunc(fsfake.ProfileNames(), func(name string) bool {
		p := ProfileOf(name)
		return p == fsfake.Posix || !p.Modelled()
	})
}

// ProfileOf is the profile of a name, [fsfake.Posix] of what is none.
func ProfileOf(name string) fsfake.Profile {
	return fsfake.Profile(max(0, slices.Index(fsfake.ProfileNames(), name)))
}

// On returns the scenario on a file system. The error says why there is none: it is not listed, or
// the setting has one already, or assumes what is not so there.
func (s *Scenario) On(name string) (Scenario, error) {
	if !slices.Contains(FileSystems(), name) {
		return Scenario{}, fmt.Errorf("scenarios: there is no file system %q; choose one of %v", name, FileSystems())
	}
	if had := s.FileSystem(); had != "" {
		return Scenario{}, fmt.Errorf("scenarios: %s is on %s already", s.ID, had)
	}
	st := s.Setting
	st.Machine.Profile = ProfileOf(name)
	return s.In(st)
}

// FileSystem is the name of the file system that the setting is on, "" for none in particular.
func (s *Scenario) FileSystem() string { return s.Setting.FileSystem() }

// FileSystem is the name of the file system that the setting is on, "" for none in particular.
func (s *Setting) FileSystem() string {
	if p := s.Machine.Profile; p != fsfake.Posix {
		return p.String()
	}
	return ""
}

// FilesHaveNames reports whether a file has several names at the start: on an overlay these are
// files of their own.
func (s *Scenario) FilesHaveNames() bool {
	m, err := s.Start()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(m.Tree(), func(n fsfake.NameView) bool {
		v := m.View(n.ID)
		return v.Kind != fsfake.KindDir && v.Nlink > 1
	})
}

// SplitsNames reports whether that is so on the file system that the setting is on.
func (s *Scenario) SplitsNames() bool { return s.Setting.Machine.Profile == fsfake.Overlay }
