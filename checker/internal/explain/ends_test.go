package explain_test

import (
	"os"
	"testing"
	"time"

	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// What goes wrong is told of an end, as with real programs, where more happens between the mistake
// and the end than in a history, which ends where it is wrong.
func TestCausesOfWrongEnds(t *testing.T) {
	end := func(meaning string, says func(v scenarios.View) string) *scenarios.Property {
		return &scenarios.Property{ID: "end", Meaning: meaning, Invariant: func(v scenarios.View) string {
			if v.Running() > 0 {
				return ""
			}
			return says(v)
		}}
	}
	wrong := func(name, text string) *scenarios.Property {
		return end("What is left is as it should be.", func(v scenarios.View) string {
			if is, ok := v.ReadFile(name); ok && is == text {
				return "it ends wrongly"
			}
			return ""
		})
	}
	sys := kit.System{Name: "shape", Lock: lock}
	row := func(id string, p *scenarios.Property, in ...kit.Situation) kit.Row {
		return kit.Row{ID: id, Lock: scenarios.Protocol{}, In: in, Claims: kit.Broken(p)}
	}
	const n = "/run/n"
	counted := end("Who says that it has counted has.", func(v scenarios.View) string {
		_, a := v.ReadFile(n + ".A")
		_, b := v.ReadFile(n + ".B")
		if text, _ := v.ReadFile(n); a && b && text == "1" {
			return "both have counted to 1"
		}
		return ""
	})
	compared := wrong(n, "failed")
	compared.Table = func(scenarios.View) [][]string {
		return [][]string{
			{"", "here", "A then B", "B then A"},
			{"lock.2", "there", "—", "there"},
			{"n", "there", "—", "—"},
		}
	}
	undone := wrong(n, "failed")
	undone.Kind = func(scenarios.View) scenarios.Kind { return scenarios.Undone }
	var c causes
	for _, sc := range sys.Scenarios(
		row("end/read-back", undone, kit.Roles(drafts("A"), drafts("B"))),
		row("end/later-victim", counted, kit.Roles(breaksAndCounts("A", false), breaksAndCounts("B", true)), kit.DeadOwner(kit.Dead), kit.File(n, "0")),
		row("end/turned-away", wrong(n, "failed"), kit.Roles(removesWhatItSaw, func(t *task) { _ = t.Unlink(lock) }), kit.File(lock, "")),
		row("end/touched", wrong(n, "failed"), kit.Roles(func(t *task) {
			if t.Chtimes(lock, time.Unix(1, 0), time.Unix(1, 0)) == nil && t.Unlink(lock) != nil {
				_ = kit.Create(t, n, "failed")
			}
		}, func(t *task) { _ = t.Unlink(lock) }), kit.File(lock, "")),
		row("end/read-amid", wrong(n, "half"), kit.Roles(func(t *task) { _ = kit.Replace(t, lock, "b") }, copiesEmpty), kit.File(lock, "a")),
		row("end/listed-amid", wrong(n, "both"), kit.Roles(movesTwo, lists), kit.File(lock, ""), kit.File(lock+".1", "")),
		row("end/interrupted", compared, kit.Roles(func(t *task) {
			_ = t.Rename(lock, lock+".2")
			if t.Unlink(lock+".1") != nil {
				_ = kit.Create(t, n, "failed")
				_ = t.Mkdir(lock+".d", 0o755)
				_ = kit.Create(t, lock+".d/n", "") // another file, which the table does not mean
			}
		}, func(t *task) {
			if t.Unlink(lock) != nil {
				_ = kit.Create(t, lock+".tmp", "")
				_ = t.Unlink(lock + ".tmp")
				_ = t.Unlink(lock + ".1")
			}
		}), kit.File(lock, ""), kit.File(lock+".1", "")),
		row("end/other-descriptor", wrong(lock, ""), kit.Roles(sortsInPlace, sortsInPlace), kit.File(lock, "a")),
		row("end/looked-and-appended", wrong(lock, "aa"), kit.Roles(appendsOnce, appendsOnce), kit.File(lock, "")),
		row("end/replaced-unread", wrong(lock, "A"), kit.Roles(replacesBy("A", true), replacesBy("B", false)), kit.File(lock, "")),
	) {
		c.add(t, &sc, sc.Claims[0].Property)
	}
	golden.Check(t, "ends.txt", c.text.String())
}

// drafts writes a text, reads it back, and notes when that is another one.
func drafts(text string) scenarios.Program {
	return func(t *task) {
		_ = kit.Replace(t, lock, text)
		if is, err := kit.ReadAll(t, lock); err == nil && is != text && is != "" {
			_ = kit.Create(t, "/run/n", "failed")
		}
	}
}

// breaksAndCounts breaks a dead one's lock, counts, and gives the lock back or keeps it. Who has
// its lock taken away by mistake removes in the end the lock of who took it.
func breaksAndCounts(name string, gives bool) scenarios.Program {
	return func(t *task) {
		if makeFile(t) != nil && (!readPid(t) || t.Unlink(lock) != nil || makeFile(t) != nil) {
			return
		}
		text, _ := kit.ReadAll(t, "/run/n")
		_ = kit.Create(t, "/run/n."+name, string(rune(text[0]+1)))
		_ = t.Link("/run/n."+name, "/run/n.to")
		_ = t.Rename("/run/n.to", "/run/n")
		if gives {
			_ = t.Unlink(lock)
		}
	}
}

func removesWhatItSaw(t *task) {
	if seen(t) && t.Unlink(lock) != nil {
		_ = kit.Create(t, "/run/n", "failed")
	}
}

func copiesEmpty(t *task) {
	if text, _ := kit.ReadAll(t, lock); text == "" {
		_ = kit.Create(t, "/run/n", "half")
	}
}

func movesTwo(t *task) {
	_ = t.Rename(lock, lock+".a")
	_ = t.Rename(lock+".1", lock+".b")
}

// lists notes when it sees what was moved beside what was not.
func lists(t *task) {
	names, _ := t.ReadDir("/run")
	if len(names) == 2 && names[0] == "lock.1" && names[1] == "lock.a" {
		_ = kit.Create(t, "/run/n", "both")
	}
}

// sortsInPlace opens its output before it reads its input, which is the same file.
func sortsInPlace(t *task) {
	out, err := t.OpenFile(lock, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	text, _ := kit.ReadAll(t, lock)
	_ = out.Truncate(0)
	_, _ = out.Write([]byte(text))
}

func appendsOnce(t *task) {
	if text, _ := kit.ReadAll(t, lock); text != "" {
		return
	}
	if f, err := t.OpenFile(lock, os.O_WRONLY|os.O_APPEND, 0); err == nil {
		_, _ = f.Write([]byte("a"))
	}
}

// replacesBy puts a new file in the place of the lock, of which it has not read the text; last, only
// if somebody has been there before.
func replacesBy(text string, last bool) scenarios.Program {
	return func(t *task) {
		info, err := t.Stat(lock)
		if err != nil || kit.Create(t, lock+"."+text, text) != nil {
			return
		}
		if now, err := t.Lstat(lock); last && (err != nil || now.Size() == info.Size()) {
			return
		}
		_ = t.Rename(lock+"."+text, lock)
	}
}
