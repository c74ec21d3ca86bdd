package fsfake

import (
	"fmt"
	"strings"
)

// Ways is in how many ways the call can go: which one it is, is a choice of the schedule. For
// all calls but [CallChoose] it is 1.
func (o *Op) Ways() int {
	if o.Call == CallChoose {
		return max(int(o.Len), 1)
	}
	return 1
}

// Way returns the call as it goes in one of its [Op.Ways], counted from 0.
func (o Op) Way(n int) Op {
	if o.Call == CallChoose {
		o.Off = int64(n)
	}
	return o
}

func choose(op *Op, r *Result) {
	if op.Off < 0 || op.Off >= op.Len {
		*r = unmodelled("the choice %d of %d calls", op.Off, op.Len)
		return
	}
	r.N = op.Off
}

// chosenText is the line of Data that is about the call that goes on.
func chosenText(o *Op) string {
	if o.Data == "" {
		return fmt.Sprintf("%d of %d", o.Off+1, o.Len)
	}
	lines := strings.Split(o.Data, "\n")
	if o.Off < 0 || o.Off >= int64(len(lines)) {
		return ""
	}
	return lines[o.Off]
}
