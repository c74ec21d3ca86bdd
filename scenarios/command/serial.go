package command

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// Refused says by which exit statuses a command may refuse to do anything, so that it need
// not have run at all.
type Refused struct {
	// Declared: the statuses are as listed, also when none is. Otherwise any status but 0 may
	// be a refusal, or not: both are decided, and where they differ there is no verdict.
	Declared bool
	Statuses []int
	// Skips: exit status 0 is a refusal, too, of a command that has changed no file. It has found another one at work
	// and leaves it at that, as after flock -n || exit 0. Files that it has opened, made and emptied count as unchanged
	// here: at the end they must be as in an order without it.
	Skips bool
	// All: every command may refuse at once, and nothing is done. Otherwise one must get through. SQLite documents it
	// of SQLITE_BUSY, and who tries two locks in either order has it, too.
	All bool
}

// serializable returns the property of commands whose serial runs are given.
func (s *Spec) serializable(sc *scenarios.Scenario, serial serialRuns) *scenarios.Property {
	of := s.outcome
	if s.Read != "" {
		of, serial = s.found, serialRuns{asFound(serial.orders), asFound(serial.reused), serial.passage}
	}
	start, parts := of(scenarios.NewView(sc.NewMachine())).Tree, serial
	if !s.mayRefuse() {
		serial = serial.whole(len(s.Commands))
	}
	judge := func(orders []outcome.Order) *outcome.Serial {
		return &outcome.Serial{What: "commands", Orders: orders, Strangers: s.Living, Refuses: s.refuses(orders)}
	}
	c, reused := judge(serial.orders), judge(serial.reused)
	compared := func(v scenarios.View) *outcome.Serial {
		if v.ReusesInodes() {
			return reused
		}
		return c
	}
	p := &scenarios.Property{
		ID: scenarios.Serializable.ID, Native: scenarios.OrderedRuns,
		Reconsider: s.reconsider(sc, func(v scenarios.View) bool { return compared(v).Judge(of(v)) == "" },
			func(k outcome.Order) {
				if s.Read != "" {
					k = k.AsFound()
				}
				c.Orders, reused.Orders = outcome.Add(c.Orders, k), outcome.Add(reused.Orders, k)
			}),
		Meaning:   "What the commands leave behind is what they leave behind one after the other, in some order.",
		Invariant: func(v scenarios.View) string { return compared(v).Invariant(of)(v) },
		Table:     func(v scenarios.View) [][]string { return compared(v).Table(of(v)) },
		Kind: func(v scenarios.View) scenarios.Kind {
			return compared(v).Kind(of(v), start, append(slices.Clone(parts.orders), parts.reused...))
		},
	}
	s.severalEnds(sc, p, parts.orders)
	// What is there at the start may be what keeps them out, and then it is to.
	lacks := c.OnlyRefusals()
	switch {
	case s.Left || s.done || len(s.Living) > 0:
	case lacks != "" && s.Refused.Declared:
		lacks += ": make them work alone first, or leave that out of --refused"
		p.Evidence.Lacks = func([]scenarios.Fact) string { return lacks }
	case !s.record.acts && len(s.record.refused) == 0:
		lacks = "no command changes, makes or locks a file, so that all do the same in any order: make them do their " +
			"work on the files at the start first, see --dir and --from"
		p.Evidence.Lacks = func([]scenarios.Fact) string { return lacks }
	}
	return p
}

// severalEnds is that a command alone has more ends than one, by the order of its own processes: each is that of a
// serial run, and so is right beside others. Of one command nothing else is asked, and only the user knows.
func (s *Spec) severalEnds(sc *scenarios.Scenario, p *scenarios.Property, orders []outcome.Order) {
	all := make([]int, len(s.Commands))
	for i := range all {
		all[i] = i
	}
	for i := range all {
		alone := slices.DeleteFunc(slices.Clone(orders), func(k outcome.Order) bool {
			return len(k.Killed) > 0 || !slices.Equal(k.Ran, []int{i})
		})
		if len(alone) < 2 || s.Stalls > 0 || s.hasEarlier(i) {
			continue
		}
		var differ []string
		other := outcome.Order{Ran: all, Outcome: alone[1].Outcome}
		for _, row := range (&outcome.Serial{Orders: []outcome.Order{other}}).Table(alone[0].Outcome)[1:] {
			differ = append(differ, fmt.Sprintf("%s is %s or %s", row[0], row[1], row[2]))
		}
		text := fmt.Sprintf("%s alone ends in more ways than one, by the order of its own processes or threads: %s",
			scenarios.ProcessName(i), strings.Join(differ, ", "))
		if len(s.Commands) > 1 {
			assume(sc, scenarios.SeveralEnds, text+"; each counts as right")
			continue
		}
		p.Unjudged = "it depends: " + text + ". Only you know whether each is right; what may differ is left out by " +
			"--stdout off, --ignore or --read"
	}
}

// outcome looks at a machine on which every command has ended. Where clocks move, texts do not tell what time it was.
func (s *Spec) outcome(v scenarios.View) outcome.Outcome {
	o := s.wholeOutcome(v)
	if s.lasting {
		o = o.Map(func(text string) string { return s.record.withoutDates(text, v.Now().Truncate(time.Hour)) })
	}
	return o
}

// wholeOutcome is outcome with the times in texts.
func (s *Spec) wholeOutcome(v scenarios.View) outcome.Outcome {
	o := outcome.Of(v, len(s.Commands))
	o.Tree = s.tree(v)
	return o
}

// Ignored reports whether a name, relative to the directory, is left out of what is compared.
func (s *Spec) Ignored(name string) bool {
	for _, p := range s.Ignore {
		whole, _ := path.Match(p, name)
		base, _ := path.Match(p, path.Base(name))
		if whole || base {
			return true
		}
	}
	return false
}

// serialRuns are the outcomes of the serial runs, where inode numbers never come back and where they do, and the files
// that commands write or replace on the way, whatever these are at the end.
type serialRuns struct {
	orders, reused []outcome.Order
	passage        outcome.Passage
}

// whole are the runs in which every one of so many commands has run.
func (r serialRuns) whole(commands int) serialRuns {
	return serialRuns{whole(r.orders, commands), whole(r.reused, commands), r.passage}
}

// whole are the orders in which every one of so many commands has run.
func whole(serial []outcome.Order, commands int) []outcome.Order {
	return slices.DeleteFunc(slices.Clone(serial), func(o outcome.Order) bool { return len(o.Ran) < commands })
}

// asFound are the orders with what a reader finds in place of the files.
func asFound(orders []outcome.Order) (out []outcome.Order) {
	for _, k := range orders {
		out = outcome.Add(out, k.AsFound())
	}
	return out
}

// errLooks ends serial runs in which the beginnings and ends of processes went first, and somebody looks at these.
var errLooks = errors.New("command: it looks at processes")

// serial runs the commands in every order, and where refusals may count also in every order
// of some of them. A command whose own calls can go on side by side ends in as many ways as they
// have orders; where these are too many, a few are followed, here and in all that is decided.
func (s *Spec) serial(sc *scenarios.Scenario) (serialRuns, error) {
	s.early, s.record.orders = s.startEarly(), 0
	defer func() {
		s.early.close()
		s.early = nil
	}()
	out, err := s.everyOrder(sc)
	for !s.everyBirth && s.record.firsts && s.record.looks && !errors.Is(err, errManyOrders) {
		s.everyBirth = len(s.record.sought) == 0
		maps.Copy(s.record.sought, s.sought)
		s.record, s.sought = newRecord(), s.record.sought
		out, err = s.everyOrder(sc)
	}
	if errors.Is(err, errManyOrders) && s.mayLookFirst() {
		s.record, s.looksFirst = newRecord(), true
		out, err = s.everyOrder(sc)
	}
	if errors.Is(err, errManyOrders) {
		s.record, s.ownOrders = newRecord(), s.fewOwnOrders()
		out, err = s.everyOrder(sc)
	}
	return out, err
}

// everyOrder lists the outcomes of all serial runs. Where inode numbers come back the commands are run once more only if
// an answer to them is another one then.
func (s *Spec) everyOrder(sc *scenarios.Scenario) (serialRuns, error) {
	reusing := *sc
	if sc.Setting.Assumed().Inodes == scenarios.InodesOpen {
		st := sc.Setting
		st.Assume.Inodes = scenarios.InodesReused
		var err error
		if reusing, err = sc.In(st); err != nil {
			return serialRuns{}, err
		}
	}
	o := s.ordering(sc)
	o.kernel = true
	defer o.close()
	if err := o.run(sc.NewMachine(), reusing.NewMachine(), nil, nil, 0); err != nil {
		return serialRuns{}, err
	}
	again := o
	if o.differs {
		again = s.ordering(&reusing)
		defer again.close()
		if err := again.run(reusing.NewMachine(), nil, nil, nil, 0); err != nil {
			return serialRuns{}, err
		}
	}
	return serialRuns{o.out, again.out, o.passage}, nil
}

// An ordering runs the commands one after the other.
type ordering struct {
	s      *Spec
	sc     *scenarios.Scenario
	kernel bool // what a command does alone is carried out on the kernel, too
	out    []outcome.Order
	// differs: where inode numbers come back, some call was answered otherwise, or nobody has asked.
	differs bool
	// meets: some order was followed to where it met another. frees: some file has gone.
	meets, frees bool
	passage      outcome.Passage
	// kept is what each command keeps between its runs with jumps of the clock, and between those after a kill.
	kept [][2]scenarios.Learning
}

func (s *Spec) ordering(sc *scenarios.Scenario) *ordering {
	return &ordering{s: s, sc: sc, kept: make([][2]scenarios.Learning, len(s.Commands))}
}

// close ends what is kept.
func (o *ordering) close() {
	for i := range o.kept {
		o.kept[i][0].Close()
		o.kept[i][1].Close()
	}
}

// run runs those that have not run yet, when the clock has jumped so many times. reusing is the machine on which inode
// numbers come back, or nil.
func (o *ordering) run(m, reusing *fsfake.Machine, ran, killed []int, stalled int) error {
	s := o.s
	s.throughout.comes(s, m, len(ran) == len(s.Commands))
	if len(ran) > 0 || s.Refused.All {
		k := outcome.Order{Ran: slices.Clone(ran), Killed: slices.Clone(killed), Outcome: s.outcome(scenarios.NewView(m))}
		if s.reader != nil && (len(killed) == 0 || s.Read != "") {
			k.Found = s.reader.look(scenarios.NewView(m))
		}
		o.out = outcome.Add(o.out, k)
	}
	for i := range s.Commands {
		if slices.Contains(ran, i) {
			continue
		}
		if s.record.firsts && s.record.looks {
			return errLooks
		}
		// These are many, and who explores the commands makes all once more; so does who asks what kills leave whole.
		if len(killed) > 0 || s.throughout != nil {
			s.keeps = &o.kept[i][0]
		}
		ends, err := s.everyWay(o.sc, m, i, o.kernel && len(ran) == 0 && !s.Left, len(killed) < s.Crashes)
		s.keeps = nil
		s.throughout.sees(m, i, ends, err)
		if (len(killed) > 0 || s.Left) && errors.As(err, new(stuck)) {
			err = nil // for want of what a killed one has not done: this order has no end
		}
		if err != nil {
			return err
		}
		first := slices.IndexFunc(ends, func(e aloneEnd) bool { return e.m != nil })
		if o.kernel && len(ran) == 0 && !s.hasEarlier(i) && first >= 0 {
			if err := s.asOnTheKernel(o.sc, i, ends[first].steps, ends[first].m); err != nil {
				return err
			}
		}
		if o.kernel && len(ran) == 0 && i == 0 && s.changes(m, ends) {
			s.early.startAgain()
		}
		for _, e := range ends {
			o.passes(m, i, e.steps)
			if err := o.runOn(e, o.answeredAlike(reusing, i, e), i, ran, killed, stalled); err != nil {
				return err
			}
		}
		if err := o.stalled(m, i, s.Stalls-stalled, func(e aloneEnd, jumps int) error {
			o.differs = true
			return o.runOn(e, nil, i, ran, killed, stalled+jumps)
		}); err != nil {
			return err
		}
	}
	return nil
}

// answeredAlike makes the steps of a run on the machine on which inode numbers come back, and returns what that has
// become; nil where an answer differs. An order that meets another goes on as that does, unless numbers come back.
func (o *ordering) answeredAlike(reusing *fsfake.Machine, process int, e aloneEnd) *fsfake.Machine {
	if o.differs || reusing == nil || len(e.cuts) > 0 {
		o.differs = true
		return nil
	}
	m := reusing.Clone()
	for _, st := range e.steps {
		if m.Do(st.task(process), st.Op) != st.Result {
			o.differs = true
			return nil
		}
	}
	o.meets, o.frees = o.meets || e.m == nil, o.frees || m.HasFreed()
	o.differs = o.meets && o.frees
	return m
}

// passes keeps what a command does to files on its way, and whether it starts others.
func (o *ordering) passes(start *fsfake.Machine, process int, steps []Step) {
	if o.s.Crashes == 0 && o.s.PowerLosses == 0 && o.s.FailingCalls == 0 {
		return
	}
	m, files := start.Clone(), o.s.tree(scenarios.NewView(start))
	for _, st := range steps {
		o.s.starts = o.s.starts || st.task(process) != Step{}.task(process)
		m.Do(st.task(process), st.Op)
		switch call := st.Op.Call; {
		case call.Is(fsfake.Changes), call == fsfake.CallOpen && st.Op.Flags&fsfake.O_TRUNC != 0:
			o.passage.See(start, m, files, o.s.at)
		case call == fsfake.CallFlock || call == fsfake.CallSetlk:
			o.passage.SeeLocks(m, o.s.tree(scenarios.NewView(m)), o.s.at)
		}
	}
}

// changes reports whether a command leaves other files behind than it has found.
func (s *Spec) changes(m *fsfake.Machine, ends []aloneEnd) bool {
	was := s.tree(scenarios.NewView(m))
	return slices.ContainsFunc(ends, func(e aloneEnd) bool {
		return e.m != nil && !slices.Equal(s.tree(scenarios.NewView(e.m)), was)
	})
}

// runOn goes on with the others when a command has ended, or has been killed.
func (o *ordering) runOn(e aloneEnd, reusing *fsfake.Machine, i int, ran, killed []int, stalled int) error {
	ran = append(slices.Clone(ran), i)
	if e.m != nil {
		if err := o.run(e.m, reusing, ran, killed, stalled); err != nil {
			return err
		}
	}
	if len(killed) == o.s.Crashes {
		return nil
	}
	for _, m := range e.cuts {
		if err := o.run(m, nil, ran, append(slices.Clone(killed), i), stalled); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) mayRefuse() bool {
	return !s.Refused.Declared || len(s.Refused.Statuses) > 0 || s.Refused.Skips
}

// May reports whether a command that ended so, "exit 1", may have refused to do anything. Of one that skips its work
// by status 0 it says so, whatever that has changed.
func (r Refused) May(exit string) bool {
	if exit == "exit 0" {
		return r.Skips
	}
	return !r.Declared || r.has(exit)
}

// has reports whether an outcome's exit is among the statuses. That of a signal is 128 more, as shells have it.
func (r Refused) has(exit string) bool {
	return slices.ContainsFunc(r.Statuses, func(n int) bool {
		return exit == fmt.Sprintf("exit %d", n) || exit == fmt.Sprintf("signal %d", n-128)
	})
}

// refuses returns what reports whether a command may have ended by a refusal. Who changes no file in any serial order
// does not skip anything when it changes none: it is a reader, and what it prints is compared.
func (s *Spec) refuses(orders []outcome.Order) func(o outcome.Outcome, i int) bool {
	works := make([]bool, len(s.Commands))
	for _, k := range orders {
		for _, i := range k.Ran {
			works[i] = works[i] || !k.Outcome.Idle[i]
		}
	}
	return func(o outcome.Outcome, i int) bool {
		if o.Exits[i] == "exit 0" {
			return s.Refused.Skips && works[i] && o.Idle[i]
		}
		return s.Refused.May(o.Exits[i])
	}
}
