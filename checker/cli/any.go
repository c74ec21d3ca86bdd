package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"lockpick/checker"
	"lockpick/checker/parameterized"
	"lockpick/scenarios"
)

// anyNumber is the value of --procs that stands for every number of processes.
const anyNumber = "any"

// takeAny takes --procs any out of the flags, and reports whether it was there.
func (f *settingFlags) takeAny() bool {
	for _, flag := range f.given {
		if flag.field.Flag == "procs" && flag.text == anyNumber {
			flag.set, flag.text = false, ""
			return true
		}
	}
	return false
}

// copiesFlag is how many copies of a command run; anyCopies is any number.
type copiesFlag int

const anyCopies copiesFlag = -1

// String, Set and Type make it a pflag.Value.
func (c *copiesFlag) String() string { return strconv.Itoa(int(*c)) }
func (c *copiesFlag) Type() string   { return "int" }
func (c *copiesFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case text == anyNumber:
		*c = anyCopies
		return nil
	case err != nil || n < 0:
		return errors.New("choose a number, or any")
	}
	*c = copiesFlag(n)
	return nil
}

// checkAny asks the questions of any number of processes, and prints a line for each.
func (a *app) checkAny(ctx context.Context, questions []question, f *checkFlags, o checker.Options) error {
	if f.results.instead() || f.kernel.real {
		return fmt.Errorf("--procs any prints lines of text: leave out the flags for other formats and for the kernel")
	}
	if f.certificate != "" {
		if err := oneProof(questions, f.certificate); err != nil {
			return err
		}
	}
	counts := map[string]int{}
	for _, q := range questions {
		ans, err := parameterized.Check(ctx, q.sc, q.property, o)
		if err != nil {
			return err
		}
		if f.certificate != "" {
			if err := a.writeCertificate(&ans, f.certificate); err != nil {
				return err
			}
		}
		verdict, why := anyVerdict(&ans)
		counts[verdict]++
		if _, err := fmt.Fprintf(a.stdout, "%s %s: %s%s\n", q.sc.ID, q.property.ID, verdict, why); err != nil {
			return err
		}
		claim, claimed := q.sc.Claim(q.property)
		switch {
		case ans.Broken != nil && claimed && claim != scenarios.Broken:
			a.worsen(ExitDiffers)
		case ans.Asked && ans.Broken == nil && !ans.Proved:
			a.worsen(ExitUnknown)
		}
	}
	if f.certificate != "" && counts[provedForAny] == 0 {
		a.note("--certificate: nothing is proved, so %s is not written", f.certificate)
	}
	_, err := fmt.Fprintf(a.stdout, "\n%d proved for any number · %d broken · %d not proved · %d not asked\n",
		counts[provedForAny], counts[brokenWithFew], counts[notProved], counts[notAsked])
	return err
}

// The verdicts on any number of processes.
const (
	provedForAny  = "holds for any number of processes"
	brokenWithFew = "broken"
	notProved     = "not proved for any number of processes"
	notAsked      = "not asked"
)

// anyVerdict says what an answer comes to, and why.
func anyVerdict(a *parameterized.Answer) (verdict, why string) {
	switch {
	case !a.Asked:
		return notAsked, ": " + a.Why
	case a.Proved:
		return provedForAny, fmt.Sprintf("%s (%d views of %d, %d configurations)",
			strings.TrimPrefix("holds for "+a.Numbers(), provedForAny), a.Views, a.K, a.Configurations)
	case a.Broken != nil:
		return brokenWithFew, fmt.Sprintf(" with %d processes", a.Broken.Scenario.Setting.Processes)
	}
	if why = ": " + a.Why; a.UpTo > 0 {
		why = fmt.Sprintf(", holds for up to %d%s", a.UpTo, why)
	}
	if a.Call != "" {
		why += ", at " + a.Call + at(a.Source)
	}
	return notProved, why
}

// at names a place in the source: ", lock.go:33 in pidlock.Acquire".
func at(s scenarios.Source) string {
	if s.Line == 0 {
		return ""
	}
	return fmt.Sprintf(", %s:%d in %s", filepath.Base(s.File), s.Line, s.Func)
}
