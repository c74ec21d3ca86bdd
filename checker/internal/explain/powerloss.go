package explain

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// powerLoss says what a loss of power did to the watched files.
func (t *teller) powerLoss() bool {
	if t.loss == nil {
		return false
	}
	var parts []string
	for i := range t.loss.After.Files {
		before, after := &t.loss.Before.Files[i], &t.loss.After.Files[i]
		name := t.walk.Names.Short(after.Path)
		switch {
		case before.Exists && !after.Exists:
			parts = append(parts, name+" was gone after that"+t.unsyncedName(before))
		case !before.Exists && after.Exists:
			parts = append(parts, t.called(after)+" was back after that"+t.unsyncedName(after))
		case before.Exists && before.ID != after.ID:
			parts = append(parts, name+" was "+t.object(after)+" again after that, not "+t.object(before)+t.unsyncedName(before))
		case before.Content != after.Content && after.Content == "":
			parts = append(parts, t.called(after)+" was empty after that"+t.unsyncedData(after))
		case before.Content != after.Content && strings.Trim(after.Content, "\x00") == "":
			parts = append(parts, t.called(after)+" had zeros in place of its text after that"+t.unsyncedData(after))
		case before.Content != after.Content:
			parts = append(parts, t.called(after)+" had older contents after that"+t.unsyncedData(after))
		}
	}
	if len(parts) == 0 {
		return false
	}
	t.say("The power was lost %s, before all was synced: %s.", t.at(t.loss.N), strings.Join(parts, "; "))
	return true
}

// cutShort tells of a file that somebody had begun to change who was killed.
func (t *teller) cutShort() bool {
	for _, k := range slices.Backward(t.kills) {
		for _, p := range t.walk.Paths() {
			if !strings.HasPrefix(t.cx.Said, p+":") &&
				!strings.HasPrefix(t.walk.Names.Shorten(t.cx.Said), t.walk.Names.Short(p)+":") {
				continue
			}
			for _, c := range slices.Backward(t.changes[p]) {
				if c.By.Process == k.Choice.Task.Process && c.Step < k.N && c.Kind != trace.Touched {
					t.say("%s %s %s and was killed %s, before it could go on.", c.By, t.whole(c), t.did(c.Step), t.at(k.N))
					return true
				}
			}
		}
	}
	return false
}

// unsyncedData says which write of a file was not synced.
func (t *teller) unsyncedData(f *trace.FileState) string {
	n := 0
	for _, p := range t.walk.Paths() {
		for _, c := range t.changes[p] {
			if c.After.ID == f.ID && c.Kind == trace.Wrote && c.Step < t.loss.N {
				n = max(n, c.Step)
			}
		}
	}
	if n == 0 || t.syncedAfter(f.ID, n) {
		return ""
	}
	return fmt.Sprintf(", as nobody had synced it after the write %s", t.did(n))
}

// unsyncedName says which change of a name was not synced.
func (t *teller) unsyncedName(f *trace.FileState) string {
	n := 0
	for _, c := range t.changes[f.Path] {
		if c.Identity() && c.Step < t.loss.N {
			n = max(n, c.Step)
		}
	}
	dir := t.loss.Before.File(path.Dir(f.Path))
	if n == 0 || t.syncedAfter(dir.ID, n) {
		return ""
	}
	return fmt.Sprintf(", as nobody had synced the directory after what happened there %s", t.did(n))
}

// syncedAfter reports whether a file or directory was synced between a step and the loss
// of power.
func (t *teller) syncedAfter(id fsfake.InodeID, after int) bool {
	for n := after + 1; n < t.loss.N; n++ {
		st := &t.walk.Steps[n-1]
		for i, c := range st.Calls {
			if c.Op.Call == fsfake.CallFsync && c.Result.OK() && len(st.Targets[i]) > 0 && st.Targets[i][0].ID == id {
				return true
			}
		}
	}
	return false
}
