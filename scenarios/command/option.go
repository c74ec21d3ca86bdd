package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockpick/scenarios"
)

// An Option is what a spec has beside its commands and files: a line in the setting of an archive, what [Spec.Set]
// takes, and a flag of run.
type Option struct {
	// Name is what all three call it; Usage is the flag's help, empty where run has no such flag.
	Name, Usage string

	set    func(value string) error
	values []string // that an archive has, in a line each; none where the spec is as the zero Spec
}

// Options lists the options of a spec, in the order in which archives have them.
func (s *Spec) Options() []Option {
	options := []Option{
		text("dir", "the directory whose files the programs share, as `DIR` (default the current one)", &s.Dir, ""),
		either("outside", "`real` lets the programs change files outside of the directory, unjudged; else what they change "+
			"there is shared, too, and nothing real is changed", &s.RealOutside, "real", "shared"),
		text("inside", "a `NAME` in the directory that the programs make where their critical section begins, and remove "+
			"where it ends", &s.Inside, "the name that marks the critical section"),
		text("recover", "with --crashes, --power-losses or --failing-calls: a `COMMAND` that runs on what is left before it "+
			"is compared, and must exit 0", &s.Recover, "a command"),
		text("read", "a `COMMAND` whose output and exit status on what is left are compared, in place of the files",
			&s.Read, "a command"),
		{"refused", "exit statuses that mean \"I have done nothing\", such as `1,75`; 0 of a program that has changed no " +
			"file; all where every program may refuse at once; or none", s.Refused.set, s.Refused.values()},
		{"ignore", "leave names that match `PATTERN` out of what is compared", s.ignore, s.Ignore},
		either("stdout", "`off` leaves what is printed out of what is compared", &s.NoStdout, "off", "on"),
	}
	for _, f := range Fields() {
		o := Option{Name: f.Flag, Usage: f.OfCommands, set: func(value string) error { return f.Set(&s.Setting, value) }}
		if text := f.Text(&s.Setting); text != f.Text(&scenarios.Setting{}) {
			o.values = []string{text}
		}
		options = append(options, o)
	}
	options = append(options, either("left", "", &s.Left, "on", "off"))
	living := Option{Name: "living", set: s.addLiving}
	for _, pid := range s.Living {
		living.values = append(living.values, strconv.Itoa(pid))
	}
	timeout := Option{Name: "timeout", set: s.setTimeout}
	if s.Timeout > 0 {
		timeout.values = []string{s.Timeout.String()}
	}
	env := Option{"env", "add `NAME=VALUE` to the programs' environment", s.addEnv, s.envToKeep()}
	return append(options, living, env, timeout)
}

// Set sets one thing of a spec by the name that flags and archives have for it.
func (s *Spec) Set(name, value string) error {
	var names []string
	for _, o := range s.Options() {
		if o.Name != name {
			names = append(names, o.Name)
		} else if err := o.set(value); err != nil {
			return fmt.Errorf("command: %s %w", name, err)
		} else {
			return nil
		}
	}
	return fmt.Errorf("command: setting %q is unknown: choose %s", name, strings.Join(names, ", "))
}

// formatSetting writes what [Spec.Set] reads.
func (s *Spec) formatSetting(b *strings.Builder) error {
	for i := range s.Outside {
		fmt.Fprintf(b, "shared %s\n", formatRegion(&s.Outside[i]))
	}
	for _, o := range s.Options() {
		for _, value := range o.values {
			switch {
			case o.Name == "ignore" && strings.ContainsAny(value, " \t"):
				return fmt.Errorf("command: the pattern %q has a blank, which an archive cannot hold: write ? for it", value)
			case value != strings.TrimSpace(value) || strings.ContainsAny(value, "\n\r"):
				return fmt.Errorf("command: %s %q has a line end, or blanks around it, which an archive cannot hold",
					o.Name, value)
			}
			fmt.Fprintf(b, "%s %s\n", o.Name, value)
		}
	}
	return nil
}

// text is an option that is a text. Where it must not be empty, give says what to give.
func text(name, usage string, of *string, give string) Option {
	o := Option{Name: name, Usage: usage, set: func(value string) error {
		if *of = value; give != "" && strings.TrimSpace(value) == "" {
			return fmt.Errorf("%q: give %s", value, give)
		}
		return nil
	}}
	if *of != "" {
		o.values = []string{*of}
	}
	return o
}

// either is an option that is one of two words.
func either(name, usage string, of *bool, yes, no string) Option {
	o := Option{Name: name, Usage: usage, set: func(value string) error {
		if *of = value == yes; value != yes && value != no {
			return fmt.Errorf("%q: give %s or %s", value, yes, no)
		}
		return nil
	}}
	if *of {
		o.values = []string{yes}
	}
	return o
}

func (s *Spec) ignore(patterns string) error {
	s.Ignore = append(s.Ignore, strings.Fields(patterns)...)
	return nil
}

func (s *Spec) addLiving(value string) error {
	pid, err := strconv.Atoi(value)
	if err != nil || pid < 0 {
		return fmt.Errorf("%q: give a number, 0 or more", value)
	}
	s.Living = append(s.Living, pid)
	return nil
}

func (s *Spec) addEnv(value string) error {
	if strings.Index(value, "=") < 1 {
		return fmt.Errorf("%q: give NAME=VALUE", value)
	}
	s.Env = append(s.Env, value)
	return nil
}

func (s *Spec) setTimeout(value string) (err error) {
	if s.Timeout, err = time.ParseDuration(value); err != nil || s.Timeout <= 0 {
		return fmt.Errorf("%q: give a time such as 30s", value)
	}
	return nil
}

// set adds exit statuses by which a command refuses.
func (r *Refused) set(value string) error {
	r.Declared = true
	bad := fmt.Errorf("%q: give exit statuses from 0 to 255, all beside them, or none", value)
	words := strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' })
	if len(words) == 0 {
		return bad
	}
	for _, word := range words {
		n, err := strconv.Atoi(word)
		switch {
		case word == "none":
		case word == "all":
			r.All = true
		case err != nil || n < 0 || n > 255:
			return bad
		case n == 0:
			r.Skips = true
		default:
			r.Statuses = append(r.Statuses, n)
		}
	}
	if r.All && len(r.Statuses) == 0 && !r.Skips {
		return fmt.Errorf("%q: all goes with the exit statuses, such as 5,all", value)
	}
	return nil
}

// values are the statuses as set reads them.
func (r *Refused) values() []string {
	if !r.Declared {
		return nil
	}
	text := "none"
	if r.Skips {
		text += ",0"
	}
	if r.All {
		text += ",all"
	}
	for _, n := range r.Statuses {
		text += "," + strconv.Itoa(n)
	}
	return []string{text}
}

// Fields lists the fields of a setting that commands have, in the order of [scenarios.Fields].
func Fields() []scenarios.Field {
	return slices.DeleteFunc(scenarios.Fields(), func(f scenarios.Field) bool { return f.OfCommands == "" })
}

// validateSetting reports a field that is set and that commands do not honour.
func (s *Spec) validateSetting() error {
	var honoured scenarios.Setting
	for _, f := range Fields() {
		f.Copy(&honoured, &s.Setting)
	}
	if changed := s.Changed(honoured); len(changed) > 0 {
		return fmt.Errorf("command: %s: commands have no such setting: leave it out", changed[0])
	}
	return nil
}
