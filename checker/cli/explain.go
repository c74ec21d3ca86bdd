package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/docs"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	setting  *settingFlags
	engine   *engineFlags
	property string
	draw     *drawFlags
	kernel   *kernelFlags
}

func (a *app) explainCommand() *cobra.Command {
	f := &explainFlags{}
	c := &cobra.Command{
		Use:   "explain SCENARIO | explain LP1002",
		Short: "Draw the smallest counterexample, or tell of a kind of cause",
		Long: `Draw the smallest counterexample of a scenario: a column for each task, the files at
the right, the step that goes wrong, the cause, the command that shows it again, and, of
a protocol in Go, the one that looks for a repair, with a fix that is found soon.
Without --property it is that of the first property claimed broken, or else of the
first claimed.

On a terminal the counterexample is carried out on the real kernel as often as can be
done in a second, at most --times; --real=false leaves that out, and --real does all.

With the id of a kind of cause, which the line "fix" names, it prints what happens there, and
right code in sh, Python, Go and Node.`,
		Args: oneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			if kindID.MatchString(args[0]) {
				return a.explainKind(args[0])
			}
			return a.explain(c.Context(), c, args[0], f)
		},
	}
	c.ValidArgsFunction = a.completeID(false)
	f.setting, f.engine = addSettingFlags(c), a.addEngineFlags(c)
	f.draw, f.kernel = addDrawFlags(c), addKernelFlags(c)
	fs := c.Flags()
	fs.StringVar(&f.property, "property", "", "explain property `P`")
	fs.BoolVar(&f.engine.skipOdds, "skip-odds", false, "leave out the exact odds, which take a second pass")
	fs.StringVar(&f.draw.save, "save", "", "write the counterexample to `FILE`, which replay reads")
	a.completeProperties(c)
	return c
}

func (a *app) explain(ctx context.Context, c *cobra.Command, id string, f *explainFlags) error {
	o, err := f.engine.options(a)
	if err != nil {
		return err
	}
	sc, p, err := a.asked(id, f.property, f.setting)
	if err != nil {
		return err
	}
	if err := errors.Join(f.kernel.validate(c), f.draw.validate()); err != nil {
		return err
	}
	f.setting.idle(a, c, sc)
	f.engine.idle(a, c, sc)
	bar := a.newProgress(ctx, 1, false)
	o.Progress = bar.follow
	bar.begin(sc.ID, p.ID)
	r, err := f.engine.decide(ctx, &sc, p, o)
	bar.clear()
	if err != nil {
		return err
	}
	a.explainSearch(f.engine, &r)
	f.kernel.look(c, a)
	f.kernel.confirm(ctx, a, &r)
	a.worsen(exitOf(&r))
	ro := a.reportOptions(f.setting, f.draw.width)
	if err := f.draw.show(a.stdout, &r, ro); err != nil {
		return err
	}
	results := []checker.Result{r}
	if fix := report.RepairCommand(&r, ro); fix != "" && !f.draw.instead() {
		_, _ = fmt.Fprintf(a.stdout, "  repair  %s\n", fix)
		if fix := a.cheapRepair(ctx, &r); fix != nil {
			_, _ = fmt.Fprintf(a.stdout, "          a fix that holds: %s\n", report.Visible(fix.Text))
			if f.draw.html() {
				a.beside(&fix.Changed, results, fix.Text)
			}
		}
	}
	return errors.Join(f.draw.write(a, a.stdout, results, f.draw.in(ro)), f.draw.keep(results, ro, report.Bundle))
}

// asked finds the scenario with an id, in the setting of the flags, and the property
// that is asked of it.
func (a *app) asked(id, propertyID string, f *settingFlags) (sc scenarios.Scenario, p *scenarios.Property, err error) {
	if err = f.validate(); err != nil {
		return sc, p, err
	}
	if sc, err = a.one(id); err != nil {
		return sc, p, err
	}
	if p, err = a.property(propertyID, sc); err != nil {
		return sc, p, err
	}
	if sc, err = f.apply(sc); err != nil {
		return sc, p, err
	}
	if p == nil {
		if len(sc.Claims) == 0 {
			return sc, p, fmt.Errorf("%s claims nothing: say in Claims what it promises", sc.ID)
		}
		p = candidates(&sc)[0]
	}
	return sc, p, nil
}

// candidates lists the claimed properties, those claimed broken first.
func candidates(sc *scenarios.Scenario) []*scenarios.Property {
	var broken, others []*scenarios.Property
	for _, c := range sc.Claims {
		if c.Verdict == checker.Broken {
			broken = append(broken, c.Property)
		} else {
			others = append(others, c.Property)
		}
	}
	return append(broken, others...)
}

// oneScenario asks for one argument.
func oneScenario(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("%s takes SCENARIO, and not %d arguments: see \"%s "+
		"--help\"", c.Name(), len(args), c.CommandPath())
}

var kindID = regexp.MustCompile(`^(?i:LP)\d+$`)

// explainKind prints the page of a kind of cause, and the right code that it points to.
func (a *app) explainKind(id string) error {
	kind, ok := trace.KindOf(strings.ToUpper(id))
	if !ok {
		ids := lists.Map(trace.Kinds(), func(k trace.Kind) string { return k.ID })
		return fmt.Errorf("there is no kind of cause %s: choose %s", id, strings.Join(ids, ", "))
	}
	_, err := fmt.Fprintln(a.stdout, docs.Cause(kind.ID))
	return err
}
