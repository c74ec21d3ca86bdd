package toys

import (
	"os"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// saves is a scenario whose processes save a file that is there. how has the words truncate (in place), sync (the file
// before the rename), dir (its directory after it), heedless (of errors).
func saves(id, summary string, st scenarios.Setting, how string, claims ...scenarios.Claim) scenarios.Scenario {
	sc := programs(id, summary, st, func(int) scenarios.Program {
		return func(t *scenarios.Task) {
			if err := save(t, how); err != nil && !strings.Contains(how, "heedless") {
				t.ExitWith(1)
			}
		}
	}, claims...)
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/f", []byte("old text"), 0o644) }
	sc.Watch = []string{"/f", "/f.A"}
	return sc
}

func save(t *scenarios.Task, how string) error {
	if strings.Contains(how, "truncate") {
		return t.WriteFile("/f", []byte("new"), 0o644)
	}
	f, err := t.OpenFile("/f."+t.Process, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.WriteString("new"); err == nil && strings.Contains(how, "sync") {
		err = f.Sync()
	}
	_ = f.Close()
	if err != nil && !strings.Contains(how, "heedless") {
		return err
	}
	if err := t.Rename("/f."+t.Process, "/f"); err != nil || !strings.Contains(how, "dir") {
		return err
	}
	d, err := t.Open("/")
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
