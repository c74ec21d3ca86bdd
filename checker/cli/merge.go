package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/scenarios"
)

func (a *app) mergeCommand() *cobra.Command {
	f := &checkFlags{}
	states := 0
	c := &cobra.Command{
		Use:   "merge --states N FILE...",
		Short: "Merge what expand found out about one question into a verdict",
		Long: `Merge what expand found out about one question into a verdict.

A space that outgrows one machine is expanded in parts by an engine that distributes lines of text,
as "expand --help" and docs/large.md say. The files have the last line of each run of expand, and N
is how many distinct states there were: when fewer or more were expanded there is no verdict. All
runs must have had one setting.`,
		Args: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				return fmt.Errorf("merge takes the last lines of expand: see \"%s --help\"", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, files []string) error { return a.merge(c, files, f, states) },
	}
	f.setting, f.formats, f.github = &settingFlags{}, addFormatFlags(c), addGitHubFlag(c)
	c.Flags().BoolVar(&f.options.Quiet, "quiet", false, "print only what is not as claimed")
	c.Flags().BoolVar(&f.options.Verbose, "verbose", false, "print counterexamples and counts too")
	addDateFlag(c.Flags(), &f.date)
	c.Flags().IntVar(&states, "states", 0, "there were `N` distinct states")
	if err := c.MarkFlagRequired("states"); err != nil {
		panic(err) // there is such a flag
	}
	return c
}

// merge reads the files, and makes the verdict of all parts.
func (a *app) merge(c *cobra.Command, files []string, f *checkFlags, states int) error {
	if err := f.refuse(files...); err != nil {
		return err
	}
	results, err := mergeExpanded(a, files, states)
	if err != nil {
		return err
	}
	f.idleDrawing(a, c)
	out := a.handOut(f)
	if err := out.add(results); err != nil {
		return err
	}
	return out.end(results)
}

// mergeExpanded makes a verdict of what expand wrote last of each run.
func mergeExpanded(a *app, files []string, states int) ([]checker.Result, error) {
	var parts []checker.Expanded
	for _, name := range files {
		some, err := readExpanded(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, some...)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s has no results of expand", strings.Join(files, ", "))
	}
	sc, err := a.one(parts[0].Scenario)
	if err != nil {
		return nil, err
	}
	program, err := programSum()
	if err != nil {
		return nil, err
	}
	if parts[0].Program != program {
		return nil, fmt.Errorf("%s: these states were expanded by another build of the program: merge with that one", files[0])
	}
	p, err := a.property(parts[0].Property, sc)
	if err != nil {
		return nil, err
	}
	st, err := scenarios.ParseSetting(parts[0].Setting, scenarios.Setting{})
	if err != nil {
		return nil, err
	}
	if sc, _, err = sc.Restored(st); err != nil {
		return nil, err
	}
	r, err := checker.MergeExpanded(&sc, p, parts, states)
	if err != nil {
		return nil, err
	}
	a.worsen(exitOf(&r))
	return []checker.Result{r}, nil
}

func readExpanded(name string) ([]checker.Expanded, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var out []checker.Expanded
	for {
		var e checker.Expanded
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%s is not what expand writes last: %w", name, err)
		}
		out = append(out, e)
	}
}
