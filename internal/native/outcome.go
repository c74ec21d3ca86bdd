package native

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An outcome is what is compared of a run: lines by what they are of, "A" how a command ended, "A prints", the name
// of a file.
type outcome map[string]string

// modeOf is the end of a line that tells the permissions of a file.
const modeOf = " mode"

// mostCommands is how many commands have names.
const mostCommands = 26

// commandName is what people call a command.
func commandName(i int) string { return string(rune('A' + i)) }

var digits = regexp.MustCompile(`\d{1,2}:\d\d:\d\d(\.\d+)?|\d{3,}(\.\d+)?`)

// outcomeOf looks at a run. Pids of the run and present times are masked: they differ from run to run.
func (t *Task) outcomeOf(r *run) outcome {
	pids := map[string]string{}
	for i, list := range r.Pids {
		for _, pid := range list {
			pids[strconv.Itoa(pid)] = "<pid of " + commandName(i) + ">"
		}
	}
	mask := func(text string) string {
		return digits.ReplaceAllStringFunc(text, func(d string) string {
			if name, ok := pids[d]; ok {
				return name
			}
			if present(d, r.At) {
				return "<now>"
			}
			return d
		})
	}
	o := outcome{}
	for i, exit := range r.Exits {
		if exit == "" {
			exit = "still runs"
		}
		o[commandName(i)] = exit
		if !t.NoStdout {
			o[commandName(i)+" prints"] = mask(fmt.Sprintf("%q", r.Printed[i]))
		}
	}
	for name, text := range r.Tree { // order does not matter: it goes into a map
		if t.ignored(name) {
			continue
		}
		if _, of := lineOf(name, mostCommands); of {
			name = "./" + name // the line A is how a command ended
		}
		o[mask(name)] = mask(text)
	}
	for name, text := range r.Outside { // order does not matter: it goes into a map
		o[mask(name)] = mask(text)
	}
	for name, mode := range r.Modes { // order does not matter: it goes into a map
		if strings.HasPrefix(name, "/") || !t.ignored(name) {
			o[mask(name)+modeOf] = mode
		}
	}
	return o
}

// ignored reports whether a name is left out, or one that it is below.
func (t *Task) ignored(name string) bool {
	if t.Ignored == nil {
		return false
	}
	for i, c := range name + "/" {
		if c == '/' && t.Ignored(name[:i]) {
			return true
		}
	}
	return false
}

// present reports whether digits are a time within ten minutes of one: seconds since 1970, or a fraction of them, or
// a time of day.
func present(d string, at time.Time) bool {
	const near = 10 * time.Minute
	if strings.Contains(d, ":") {
		for _, now := range []time.Time{at.UTC(), at.Local()} {
			clock, err := time.Parse("15:04:05", now.Format("15:04:05"))
			said, err2 := time.Parse("15:04:05", d)
			if err == nil && err2 == nil && said.Sub(clock).Abs() < near {
				return true
			}
		}
		return false
	}
	if len(d) < 10 {
		return false
	}
	n, err := strconv.ParseInt(d[:10], 10, 64)
	return err == nil && at.Sub(time.Unix(n, 0)).Abs() < near
}

// lineOf is the command that a line is of; false for one of a file.
func lineOf(name string, commands int) (int, bool) {
	name = strings.TrimSuffix(name, " prints")
	if len(name) != 1 || int(name[0])-'A' >= commands || name[0] < 'A' {
		return 0, false
	}
	return int(name[0] - 'A'), true
}

// An order is a serial run: who ran, and how it ended.
type order struct {
	ran []int
	end outcome
}

// explains reports whether an outcome is that of a serial order, as far as lines are compared: whoever has not run in
// it has refused.
func (c *Check) explains(k *order, o outcome) bool {
	n := len(c.task.Commands)
	for i := range n {
		if !slices.Contains(k.ran, i) && (c.task.Refuses == nil || !c.task.Refuses(o[commandName(i)])) {
			return false
		}
	}
	for _, name := range namesOf(o, k.end) {
		if i, of := lineOf(name, n); of && !slices.Contains(k.ran, i) || c.varies[name] || c.elsewhere(name) {
			continue
		}
		a, here := o[name]
		b, there := k.end[name]
		if here != there && !c.loose[path.Dir(name)] || here && there && a != b {
			return false
		}
	}
	return true
}

// namesOf lists the names of two outcomes.
func namesOf(a, b outcome) []string {
	names := slices.Collect(maps.Keys(a))
	names = slices.AppendSeq(names, maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// elsewhere reports lines of files outside that the serial runs do not change: these do not count.
func (c *Check) elsewhere(line string) bool {
	return strings.HasPrefix(line, "/") && !c.outside[strings.TrimSuffix(line, modeOf)]
}

// isSerial reports whether some serial order gives an outcome.
func (c *Check) isSerial(o outcome) bool {
	return slices.ContainsFunc(c.orders, func(k order) bool { return c.explains(&k, o) })
}

// differs lists what an outcome has otherwise than the serial order that is closest to it.
func (c *Check) differs(o outcome) []string {
	var best []string
	for i, k := range c.orders {
		var lines []string
		for _, name := range namesOf(o, k.end) {
			a, here := o[name]
			b, there := k.end[name]
			switch {
			case c.varies[name] || c.elsewhere(name) || here == there && a == b ||
				here != there && (c.loose[path.Dir(name)] || strings.HasSuffix(name, modeOf)):
			case !here:
				lines = append(lines, fmt.Sprintf("no %s, and not %s", name, brief(b)))
			case !there:
				lines = append(lines, fmt.Sprintf("%s: %s, and not none", name, brief(a)))
			default:
				lines = append(lines, fmt.Sprintf("%s: %s, and not %s", name, brief(a), brief(b)))
			}
		}
		if i == 0 || len(lines) < len(best) {
			best = lines
		}
	}
	return best
}

// line is an outcome in a line: the files below the directory, and how commands ended that did not end with status 0.
func (o outcome) line() string {
	var parts []string
	for _, name := range namesOf(o, nil) {
		text := o[name]
		if !strings.HasPrefix(name, "/") && !strings.HasSuffix(name, modeOf) && text != "exit 0" && text != `""` {
			parts = append(parts, name+" "+brief(text))
		}
	}
	return strings.Join(parts, ", ")
}

// brief is a text without its end.
func brief(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
