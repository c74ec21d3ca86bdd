package bruteforce

import "fmt"

// A program is flattened before it is interpreted: an instruction is a call, a jump, or a
// remark (an operation begins, a loop goes round).

type opcode uint8

const (
	opEnd    opcode = iota
	opCall          // part of stmt: a statement may make several calls
	opUnless        // goes to `to` unless the condition holds
	opJump          // goes to `to`
	opPush          // a loop begins: remembers the registers
	opTop           // a round begins: the registers are what they were
	opPop           // n loops are left
	opClear         // an acquisition begins: nothing is held
	opHeld          // what the acquisition came to, from stmt
	opInvoke        // the operation of stmt begins with the next call
	opAnswer        // the operation of stmt has ended with the last call
	opHold          // the acquisition of stmt was answered
	opLetGo         // the release begins with the next call
	opFree          // goes to `to` unless the acquisition succeeded
)

type instr struct {
	op   opcode
	stmt *Stmt
	part int
	to   int
	// release: opInvoke and opAnswer are about the release of an acquisition.
	release bool
	first   bool // opLetGo is about what the first task holds
}

// The parts of statements of several calls.
const (
	partOnly   = iota
	partSecond // of Same and Old
	partWait   // of Await: the wait itself
)

type compiler struct {
	code  []instr
	loops [][]int // jumps that leave each loop, to be filled in
	outs  [][]int // jumps that leave each acquisition
	depth []int   // how many loops were open when the acquisition began
}

func compile(body []Stmt) []instr {
	c := &compiler{}
	c.block(body)
	c.emit(instr{op: opEnd})
	return c.code
}

// compileProbe is compile for the body of an acquisition, without its operation.
func compileProbe(body []Stmt) []instr {
	c := &compiler{}
	c.inside(body)
	c.emit(instr{op: opEnd})
	return c.code
}

func (c *compiler) emit(i instr) int {
	c.code = append(c.code, i)
	return len(c.code) - 1
}

func (c *compiler) land(jumps ...int) {
	for _, at := range jumps {
		c.code[at].to = len(c.code)
	}
}

func (c *compiler) block(body []Stmt) {
	for i := range body {
		c.stmt(&body[i])
	}
}

func (c *compiler) stmt(s *Stmt) {
	switch s.Do {
	case If:
		other := c.emit(instr{op: opUnless, stmt: s})
		c.block(s.Body)
		end := c.emit(instr{op: opJump})
		c.land(other)
		c.block(s.Else)
		c.land(end)
	case Retry:
		c.retry(s)
	case Break:
		last := len(c.loops) - 1
		c.emit(instr{op: opPop, part: 1})
		c.loops[last] = append(c.loops[last], c.emit(instr{op: opJump}))
	case Return:
		last := len(c.outs) - 1
		c.emit(instr{op: opHeld, stmt: s})
		c.emit(instr{op: opPop, part: len(c.loops) - c.depth[last]})
		c.outs[last] = append(c.outs[last], c.emit(instr{op: opJump}))
	case Acquire:
		c.emit(instr{op: opInvoke, stmt: s})
		c.inside(s.Body)
		c.emit(instr{op: opAnswer, stmt: s})
		c.emit(instr{op: opHold, stmt: s})
		free := c.emit(instr{op: opFree})
		c.block(s.Else)
		c.emit(instr{op: opLetGo, stmt: s})
		c.emit(instr{op: opInvoke, stmt: s, release: true})
		c.block(s.Release)
		c.emit(instr{op: opAnswer, stmt: s, release: true})
		c.land(free)
	case Record:
		c.emit(instr{op: opInvoke, stmt: s})
		c.block(s.Body)
		c.emit(instr{op: opAnswer, stmt: s})
	case Leave:
		c.emit(instr{op: opLetGo, stmt: s, first: true})
		c.emit(instr{op: opInvoke, stmt: s, release: true})
		c.block(s.Body)
		c.emit(instr{op: opAnswer, stmt: s, release: true})
		c.emit(instr{op: opCall, stmt: &Stmt{Do: Exit}})
	case Same, Old:
		c.emit(instr{op: opCall, stmt: s})
		c.emit(instr{op: opCall, stmt: s, part: partSecond})
	case Await:
		again := len(c.code)
		c.emit(instr{op: opCall, stmt: s})
		c.emit(instr{op: opCall, stmt: s, part: partWait})
		c.emit(instr{op: opJump, to: again})
	default:
		c.emit(instr{op: opCall, stmt: s})
	}
}

func (c *compiler) retry(s *Stmt) {
	c.emit(instr{op: opPush})
	c.loops = append(c.loops, nil)
	top := c.emit(instr{op: opTop})
	c.block(s.Body)
	c.emit(instr{op: opJump, to: top})
	c.land(c.loops[len(c.loops)-1]...)
	c.loops = c.loops[:len(c.loops)-1]
}

// inside compiles the body of an acquisition.
func (c *compiler) inside(body []Stmt) {
	c.emit(instr{op: opClear})
	c.outs, c.depth = append(c.outs, nil), append(c.depth, len(c.loops))
	c.block(body)
	c.land(c.outs[len(c.outs)-1]...)
	c.outs, c.depth = c.outs[:len(c.outs)-1], c.depth[:len(c.depth)-1]
}

func (i instr) String() string {
	if i.stmt != nil {
		return fmt.Sprintf("%d %s/%d -> %d", i.op, i.stmt.Do, i.part, i.to)
	}
	return fmt.Sprintf("%d/%d -> %d", i.op, i.part, i.to)
}
