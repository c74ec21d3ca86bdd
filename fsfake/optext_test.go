package fsfake_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"lockpick/fsfake"
)

// Calls as text, for scripts: the name, and the words that callTable gives.

// callNamed finds a call by its name.
func callNamed(name string) (fsfake.Call, bool) {
	for _, c := range fsfake.Calls() {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

func opText(o fsfake.Op) string {
	words := []string{o.Call.String()}
	for _, w := range strings.Fields(rowOf(o.Call).words) {
		if text := vocabulary[w].text(&o); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

// parseOp reads a call. Words may be missing at the end when it need not be complete; the
// optional ones always may.
func parseOp(name string, w []string, complete bool) (op fsfake.Op, err error) {
	c, ok := callNamed(name)
	if !ok {
		return op, fmt.Errorf("call %q", name)
	}
	op.Call = c
	fields := strings.Fields(rowOf(c).words)
	if len(w) > len(fields) {
		return op, fmt.Errorf("%d words too many", len(w)-len(fields))
	}
	for i, f := range fields {
		switch {
		case i < len(w):
			if err := vocabulary[f].parse(&op, w[i]); err != nil {
				return op, fmt.Errorf("%s: %w", f, err)
			}
		case complete && !vocabulary[f].optional:
			return op, fmt.Errorf("%s is missing", f)
		}
	}
	return op, nil
}

// A bit names a value or a bit of a flag word.
type bit struct {
	name  string
	value int
}

// bitsWord is a word for flags that are joined by "|", one of some at random when drawn.
func bitsWord(bits []bit, draws []int) word {
	w := word{
		operand: fsfake.OperandFlags,
		text:    func(o *fsfake.Op) string { return bitsText(bits, o.Flags) },
		parse:   func(o *fsfake.Op, w string) (err error) { o.Flags, err = parseBits(bits, w); return err },
	}
	if draws != nil {
		w.draw = func(d *drawer, _ int, o *fsfake.Op) { o.Flags = pick(d, draws...) }
	}
	return w
}

// valuesWord is a word for one of several values, counted from 0; now and then one of the
// strange ones is drawn.
func valuesWord(names []string, draws, strange []int, oneIn int) word {
	return word{
		operand: fsfake.OperandFlags,
		text: func(o *fsfake.Op) string {
			if o.Flags >= 0 && o.Flags < len(names) {
				return names[o.Flags]
			}
			return strconv.Itoa(o.Flags)
		},
		parse: func(o *fsfake.Op, w string) error {
			for i, name := range names {
				if name == w {
					o.Flags = i
					return nil
				}
			}
			return parseInt(&o.Flags, w)
		},
		draw: func(d *drawer, _ int, o *fsfake.Op) {
			o.Flags = pick(d, draws...)
			if d.n(oneIn) == 0 {
				o.Flags = pick(d, strange...)
			}
		},
	}
}

// optional makes a word for flags one that is left out when they are 0.
func optional(w word) word {
	text := w.text
	w.optional = true
	w.text = func(o *fsfake.Op) string {
		if o.Flags == 0 {
			return ""
		}
		return text(o)
	}
	return w
}

func pathWord(draw func(*drawer) string) word {
	return word{
		operand: fsfake.OperandPath,
		text:    func(o *fsfake.Op) string { return quote(o.Path) },
		parse:   func(o *fsfake.Op, w string) error { o.Path = unquote(w); return nil },
		draw:    func(d *drawer, _ int, o *fsfake.Op) { o.Path = draw(d) },
	}
}

func path2Word(draw func(*drawer) string) word {
	return word{
		operand: fsfake.OperandPath2,
		text:    func(o *fsfake.Op) string { return quote(o.Path2) },
		parse:   func(o *fsfake.Op, w string) error { o.Path2 = unquote(w); return nil },
		draw:    func(d *drawer, _ int, o *fsfake.Op) { o.Path2 = draw(d) },
	}
}

// numberWord is a word for a number; one of strange is drawn once in so many times.
func numberWord(operand fsfake.Operand, field func(*fsfake.Op) *int64, draws, strange []int64, oneIn int) word {
	return word{
		operand: operand,
		text:    func(o *fsfake.Op) string { return strconv.FormatInt(*field(o), 10) },
		parse: func(o *fsfake.Op, w string) (err error) {
			*field(o), err = strconv.ParseInt(w, 0, 64)
			return err
		},
		draw: func(d *drawer, _ int, o *fsfake.Op) {
			*field(o) = pick(d, draws...)
			if strange != nil && d.n(oneIn) == 0 {
				*field(o) = pick(d, strange...)
			}
		},
	}
}

func offWord(draws, strange []int64, oneIn int) word {
	return numberWord(fsfake.OperandOff, func(o *fsfake.Op) *int64 { return &o.Off }, draws, strange, oneIn)
}

func lenWord(draws, strange []int64, oneIn int) word {
	return numberWord(fsfake.OperandLen, func(o *fsfake.Op) *int64 { return &o.Len }, draws, strange, oneIn)
}

func parseInt(to *int, w string) error {
	n, err := strconv.ParseInt(w, 0, 64)
	*to = int(n)
	return err
}

func parseMode(w string) (uint32, error) {
	n, err := strconv.ParseUint(w, 0, 32)
	return uint32(n), err
}

func bitsText(bits []bit, v int) string {
	var names []string
	for _, b := range bits {
		if b.value != 0 && v&b.value == b.value {
			names = append(names, b.name)
			v &^= b.value
		}
	}
	if v != 0 || len(names) == 0 {
		names = append(names, "0x"+strconv.FormatInt(int64(v), 16))
	}
	return strings.Join(names, "|")
}

func parseBits(bits []bit, text string) (int, error) {
	v := 0
words:
	for _, w := range strings.Split(text, "|") {
		for _, b := range bits {
			if b.name == w {
				v |= b.value
				continue words
			}
		}
		n, err := strconv.ParseInt(w, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no flag", w)
		}
		v |= int(n)
	}
	return v, nil
}

var repeated = regexp.MustCompile(`\{([^{}*]+)\*(\d+)\}`)

// quote writes a string as a word; what is repeated often is written {x*300}.
func quote(s string) string {
	var b strings.Builder
	for s != "" {
		unit, n := s[:1], 1
		for size := 1; size <= min(6, len(s)) && n < 20; size++ {
			for unit, n = s[:size], 1; strings.HasPrefix(s[n*size:], unit); {
				n++
			}
		}
		if n < 20 {
			b.WriteString(s[:1])
			s = s[1:]
			continue
		}
		fmt.Fprintf(&b, "{%s*%d}", unit, n)
		s = s[n*len(unit):]
	}
	w := b.String()
	if w == "" || strings.ContainsFunc(w, func(r rune) bool { return r == ' ' || r == '"' || !unicode.IsPrint(r) }) {
		return strconv.Quote(w)
	}
	return w
}

func unquote(w string) string {
	return repeated.ReplaceAllStringFunc(w, func(m string) string {
		p := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(p[2])
		return strings.Repeat(p[1], n)
	})
}

// splitWords splits at spaces, but keeps quoted strings, unquoted.
func splitWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			u, _ := strconv.Unquote(q)
			words, line = append(words, u), line[len(q):]
			continue
		}
		w, rest, _ := strings.Cut(line, " ")
		words, line = append(words, w), rest
	}
	return words, nil
}
