package openclawtakeover

import (
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/internal/openclaw"
)

const (
	dir      = "/sessions"
	lockPath = dir + "/main.jsonl.lock"
	poll     = 50 * time.Millisecond
)

// payload is the text of a lock file. The zero value stands for a text that is missing
// or not readable.
type payload = openclaw.Payload

// textOf is the lock text of a process.
func textOf(pid int) []byte {
	return payload{Pid: pid, CreatedAt: "2026-02-06T00:00:00Z"}.Text()
}

func parse(text []byte) payload {
	p := openclaw.Parse(text)
	if p.CreatedAt == "" {
		return payload{}
	}
	return p
}

// readPayload is b1: readFile and JSON.parse. Any error gives the zero payload.
func readPayload(t *scenarios.Task) payload {
	f, err := t.Open(lockPath)
	if err != nil {
		return payload{}
	}
	text := readText(f)
	_ = f.Close()
	return parse(text)
}

func readText(f *fsfake.File) []byte {
	text := make([]byte, 256)
	n, err := f.Read(text)
	if err != nil {
		return nil
	}
	return text[:n]
}

// alive is process.kill(pid, 0).
func alive(t *scenarios.Task, pid int) bool { return t.Kill(pid) == nil }

// closeAndRemove is the release: close the handle, then remove the lock by its path;
// ENOENT is fine.
func closeAndRemove(t *scenarios.Task, h scenarios.Hold) error {
	_ = h.File.Close()
	_ = t.Unlink(lockPath)
	return nil
}
