package datafile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// vim is how Vim writes ~/.viminfo when it ends (C): it reads the file, merges it with what it has, writes a file of a
// new name, and renames that. The source says: "This allows multiple vims to run simultaneously, without losing any
// marks etc."
func vim() []scenarios.Scenario {
	const info = "/home/user/.viminfo"
	sys := kit.System{Name: "vim", State: info, Source: kit.Part(files, "vim"),
		Report: kit.At("vim/vim", "00f63df0c1e90ce343688402c64719e09bc292f7", "src/viminfo.c")}
	merge := func(t *scenarios.Task, key string) bool {
		old, err := t.Open(info)
		if err != nil {
			return false
		}
		defer old.Close()
		for _, temp := range []string{"/home/user/.viminfo.tmp", "/home/user/.viminfz.tmp", "/home/user/.viminfy.tmp"} {
			if _, err := t.Stat(temp); err == nil {
				continue // another Vim's
			}
			f, err := t.OpenFile(temp, kit.Excl, 0o600)
			if kit.Exists(err) {
				continue
			}
			if err != nil {
				return false
			}
			text, err := kit.ReadFrom(old)
			_, werr := f.WriteString(text + key + "\n")
			return errors.Join(err, werr, f.Close(), t.Rename2(temp, info, 0)) == nil
		}
		return false
	}
	writes := kit.Adds(merge, func(t *scenarios.Task, key string) bool { return kit.HasLine(t, info, key) })
	return sys.Scenarios(kit.Row{ID: "merge-and-rename/writers",
		Does: "Two editors end at once. Both merge with the file as it was, and who renames last drops the other's " +
			"marks.",
		In: kit.In(kit.Roles(writes, writes), kit.File(info, "")), Claims: kit.Broken(scenarios.LostUpdate)})
}

// codex is the message history of OpenAI's Codex, an agent (Rust): one line is appended under a kernel lock on the
// history itself.
func codex() []scenarios.Scenario {
	const history = "/home/user/.codex/history.jsonl"
	sys := kit.System{Name: "codex", State: history, Source: kit.Part(files, "codex"),
		Report: kit.At("openai/codex", "0c330ecfc995d269bad2725b7722553e18a92513",
			"codex-rs/core/src/message_history.rs")}
	appends := func(t *scenarios.Task, key string) bool {
		f, err := t.OpenFile(history, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return false
		}
		for retry := t.Retry(); retry.Next(); { // ten times in the original
			if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
				break
			}
			t.Sleep(kit.Poll)
		}
		_, err = f.WriteString(key + "\n")
		return errors.Join(err, f.Close()) == nil
	}
	writes := kit.Adds(appends, func(t *scenarios.Task, key string) bool { return kit.HasLine(t, history, key) })
	return sys.Scenarios(kit.Row{ID: "append-under-flock/writers",
		Does: "Nothing is read, the lock is the file's own, and nobody replaces or removes it: no line is lost.",
		In:   kit.In(kit.Roles(writes, writes, writes)), Claims: kit.Holds(scenarios.LostUpdate)})
}
