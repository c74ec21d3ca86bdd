package gateguard

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"time"

	"lockpick/scenarios"
)

const (
	leaseDir  = stateDir + "/leases"
	leaseTime = 10 * time.Second
)

// lease is the report's option 3: a lock that ends by itself.
// https://github.com/affaan-m/ECC/issues/1441
//
// Leases are files numbered from 1, and only the last one counts. Each holds its owner
// and the moment it ends; an empty one has been given back. Whoever finds the last
// lease over takes the next number, with a link, which fails when somebody else was
// first. Nothing is ever removed or overwritten by name, and both "given back" and
// "ended" are for ever, so no look at the last lease can be out of date in a way that
// matters: if it is not the last any more, the link fails. There is one owner at a
// time as long as no owner works on after its lease has ended.
var lease = scenarios.Protocol{
	Path: leaseDir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			n, over := lastLease(t)
			if over {
				h, err := takeLease(t, n+1)
				if err == nil || !errors.Is(err, fs.ErrExist) {
					return h, err
				}
				continue // somebody else was first
			}
			t.Sleep(50 * time.Millisecond)
		}
		panic("unreachable")
	},
	// Through the descriptor: it is the owner's lease, whatever happened meanwhile.
	Release: func(_ *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(h.File.Truncate(0), h.File.Close())
	},
}

// lastLease returns the number of the last lease, 0 for none, and whether it is over.
func lastLease(t *scenarios.Task) (n int, over bool) {
	names, err := t.ReadDir(leaseDir)
	if err != nil || len(names) == 0 {
		return 0, err == nil
	}
	for _, name := range names {
		if i, err := strconv.Atoi(name); err == nil {
			n = max(n, i)
		}
	}
	data, err := readAll(t, path.Join(leaseDir, strconv.Itoa(n)))
	if err != nil {
		return n, false
	}
	if data == "" {
		return n, true
	}
	ends, err := parse(data) // the end in milliseconds, then the owner
	return n, err == nil && now(t) > ends.lastActive
}

// takeLease publishes lease n, complete from its first moment on.
func takeLease(t *scenarios.Task, n int) (scenarios.Hold, error) {
	owner := strconv.Itoa(t.Getpid())
	tmp := stateDir + "/lease.tmp." + owner
	f, err := t.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return scenarios.Hold{}, err
	}
	ends := now(t) + leaseTime.Milliseconds()
	_, err = f.WriteString(strconv.FormatInt(ends, 10) + "\n" + owner)
	if err == nil {
		err = t.Link(tmp, path.Join(leaseDir, strconv.Itoa(n)))
	}
	_ = t.Unlink(tmp)
	if err != nil {
		return scenarios.Hold{}, errors.Join(err, f.Close())
	}
	return scenarios.Hold{File: f}, nil
}
