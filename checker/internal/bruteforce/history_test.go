package bruteforce

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"lockpick/model"
	"lockpick/scenarios"
)

// A history lists the operations of each client in order: the tasks, and after them the
// processes as those who die.
type history [][]operation

// An operation of a history. It came after another exactly when that had ended before it
// began; before counts, for each client, how many had.
type operation struct {
	input, output any
	state         ending
	before        []int
	text          string // input and output, for keys
}

type ending uint8

const (
	open ending = iota // it has not ended
	done
	cut // its process was killed: it took effect before that, or never
)

// returned counts the operations of each client that have ended.
func (h history) returned() []int {
	n := make([]int, len(h))
	for c, ops := range h {
		n[c] = len(ops)
		if n[c] > 0 && ops[n[c]-1].state == open {
			n[c]--
		}
	}
	return n
}

// answer ends the last operation of a client; the slice is not changed in place.
func answer(ops []operation, output any) []operation {
	if len(ops) == 0 || ops[len(ops)-1].state != open {
		return ops
	}
	out := append([]operation(nil), ops...)
	o := &out[len(out)-1]
	o.output, o.state = output, done
	o.text += fmt.Sprintf("%T%v", output, output)
	return out
}

func cutShort(ops []operation) []operation {
	if len(ops) == 0 || ops[len(ops)-1].state != open {
		return ops
	}
	out := append([]operation(nil), ops...)
	out[len(out)-1].state = cut
	return out
}

// A judge decides whether a history is linearizable: whether some order of its operations,
// which keeps every operation after those that had ended before it began, is legal by the
// specification.
type judge struct {
	accepts func(input any) bool
	// next lists the states in which an operation may leave a state, as texts; when it has
	// not answered, output is nil and any answer is possible.
	next func(state string, input, output any) []string
	seen map[string]bool
}

func newJudge(p *scenarios.Property) *judge {
	j := &judge{seen: map[string]bool{}}
	locks := func(input any) bool {
		switch input.(type) {
		case model.Acquire, model.Release, model.Crash:
			return true
		}
		return false
	}
	switch p {
	case scenarios.MutualExclusion:
		j.accepts, j.next = locks, nextMutex
	case scenarios.SpuriousFailure:
		j.accepts, j.next = locks, nextStrict
	case scenarios.OwnerInfo:
		j.accepts = func(input any) bool { _, who := input.(model.WhoHolds); return who || locks(input) }
		j.next = nextOwner
	case scenarios.LostUpdate:
		j.accepts = func(input any) bool {
			switch input.(type) {
			case model.Add, model.Contains:
				return true
			}
			return false
		}
		j.next = nextSet
	case scenarios.Duplicate:
		j.accepts = func(input any) bool { _, ok := input.(model.Append); return ok }
		j.next = nextLog
	case scenarios.TornRead:
		j.accepts = func(input any) bool {
			switch input.(type) {
			case model.Write, model.Read:
				return true
			}
			return false
		}
		j.next = nextRegister
	default:
		return nil
	}
	return j
}

func (j *judge) linearizable(h history) bool {
	k := &keyer{}
	k.history(h)
	key := string(k.b)
	ok, known := j.seen[key]
	if !known {
		o := &ordering{judge: j, h: h, failed: map[string]bool{}}
		ok = o.goOn(make([]int, len(h)), objects{})
		j.seen[key] = ok
	}
	return ok
}

// An ordering is the search for a legal order.
type ordering struct {
	judge  *judge
	h      history
	failed map[string]bool
}

// Objects are the states of all locks by their names, or of the one object that a history is of.
// A lock that is not there is as at the beginning.
type objects map[string]string

// with returns the objects with one in another state.
func (o objects) with(name, state string) objects {
	out := maps.Clone(o)
	if out[name] = state; state == "" {
		delete(out, name)
	}
	return out
}

// objectOf names the object that an operation is of.
func objectOf(input any) string {
	switch in := input.(type) {
	case model.Acquire:
		return in.Lock
	case model.Release:
		return in.Lock
	case model.WhoHolds:
		return in.Lock
	}
	return ""
}

// next lists what an operation may make of the objects: all locks at once are put in one order,
// and a death is one operation on all of them.
func (o *ordering) next(state objects, input, output any) []objects {
	if _, dies := input.(model.Crash); dies {
		for _, name := range slices.Sorted(maps.Keys(state)) {
			state = state.with(name, o.judge.next(state[name], input, output)[0])
		}
		return []objects{state}
	}
	var out []objects
	name := objectOf(input)
	for _, after := range o.judge.next(state[name], input, output) {
		out = append(out, state.with(name, after))
	}
	return out
}

// goOn: the first at[c] operations of each client have been put in order, and leave the
// objects in the state.
func (o *ordering) goOn(at []int, state objects) bool {
	complete := true
	for c, ops := range o.h {
		complete = complete && at[c] == len(ops)
	}
	if complete {
		return true
	}
	key := fmt.Sprint(at, state)
	if o.failed[key] {
		return false
	}
	for c, ops := range o.h {
		if at[c] == len(ops) || !o.mayCome(at, &ops[at[c]]) {
			continue
		}
		op := &ops[at[c]]
		next := append([]int(nil), at...)
		next[c]++
		var states []objects
		if op.state == done {
			states = o.next(state, op.input, op.output)
		} else {
			states = append(o.next(state, op.input, nil), state) // or it never takes effect
		}
		for _, after := range states {
			if o.goOn(next, after) {
				return true
			}
		}
	}
	o.failed[key] = true
	return false
}

// mayCome reports whether everything that had ended before an operation began has its place.
func (o *ordering) mayCome(at []int, op *operation) bool {
	for c, n := range op.before {
		if at[c] < n {
			return false
		}
	}
	return true
}

// The specifications. A state is a text.

func is(output, want any) bool { return output == nil || output == want }

// nextMutex: "" is free, "AA" is held twice by A.
func nextMutex(state string, input, output any) (out []string) {
	switch in := input.(type) {
	case model.Acquire:
		switch {
		case state == "" && is(output, model.Acquired{OK: true}):
			out = append(out, in.Owner)
		case state != "" && state[:1] == in.Owner && is(output, model.Acquired{OK: true, Shared: true}):
			out = append(out, state+in.Owner)
		}
		if is(output, model.Acquired{}) {
			out = append(out, state)
		}
		return out
	case model.Release:
		return []string{strings.TrimSuffix(state, in.Owner)}
	case model.Crash:
		return []string{strings.ReplaceAll(state, in.Owner, "")}
	}
	return nil
}

// nextHolders: the holders in order, each as often as it holds. Whether an acquisition may
// succeed is not asked.
func nextHolders(state string, input, output any) []string {
	switch in := input.(type) {
	case model.Acquire:
		var out []string
		if is(output, model.Acquired{OK: true}) || is(output, model.Acquired{OK: true, Shared: true}) {
			names := strings.Split(state+in.Owner, "")
			sort.Strings(names)
			out = append(out, strings.Join(names, ""))
		}
		if is(output, model.Acquired{}) {
			out = append(out, state)
		}
		return out
	case model.Release:
		return []string{strings.Replace(state, in.Owner, "", 1)}
	case model.Crash:
		return []string{strings.ReplaceAll(state, in.Owner, "")}
	}
	return nil
}

// nextStrict: refused only while somebody holds.
func nextStrict(state string, input, output any) []string {
	out := nextHolders(state, input, output)
	if _, ok := input.(model.Acquire); ok && state == "" {
		var allowed []string
		for _, s := range out {
			if s != "" {
				allowed = append(allowed, s)
			}
		}
		return allowed
	}
	return out
}

// nextOwner: who is told to hold does, unless nobody does.
func nextOwner(state string, input, output any) []string {
	if _, ok := input.(model.WhoHolds); !ok {
		return nextHolders(state, input, output)
	}
	if output == nil || state == "" {
		return []string{state}
	}
	if name := output.(model.Holder).Owner; len(name) == 1 && strings.Contains(state, name) {
		return []string{state}
	}
	return nil
}

func nextSet(state string, input, output any) []string {
	switch in := input.(type) {
	case model.Add:
		if !strings.Contains(state, "<"+in.Key+">") {
			parts := append(strings.SplitAfter(state, ">"), "<"+in.Key+">")
			sort.Strings(parts)
			state = strings.Join(parts, "")
		}
		return []string{state}
	case model.Contains:
		if is(output, model.Found{Yes: strings.Contains(state, "<"+in.Key+">")}) {
			return []string{state}
		}
	}
	return nil
}

// nextLog: no entry twice.
func nextLog(state string, input, _ any) []string {
	entry := fmt.Sprintf("<%d>", input.(model.Append).Entry)
	if strings.Contains(state, entry) {
		return nil
	}
	return nextSet(state, model.Add{Key: strings.Trim(entry, "<>")}, nil)
}

func nextRegister(state string, input, output any) []string {
	switch in := input.(type) {
	case model.Write:
		return []string{in.Value}
	case model.Read:
		if is(output, model.ReadValue{Value: state}) {
			return []string{state}
		}
	}
	return nil
}
