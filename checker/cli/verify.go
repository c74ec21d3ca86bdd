package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lockpick/checker/internal/certificate"
	"lockpick/checker/parameterized"
	"lockpick/scenarios"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a proof for any number of processes",
		Long: `Check a certificate: a proof that check --procs any --certificate FILE has written. None of the code that
found the proof is used. The program is run again along each of its paths.

Exit codes: 0 it is a proof, 1 it proves nothing, 2 the file is broken.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.verify(c.Context(), args[0]) },
	}
}

func (a *app) verify(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := certificate.Read(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	at := slices.IndexFunc(a.scenarios, func(sc scenarios.Scenario) bool { return sc.ID == f.Scenario })
	if at < 0 {
		return fmt.Errorf("%s is about scenario %s, which is none: see lockpick list", path, f.Scenario)
	}
	p, err := a.property(f.Property, a.scenarios[at])
	if err != nil || p == nil {
		return fmt.Errorf("%s is about property %q, which is none", path, f.Property)
	}
	r := f.Verify(ctx, &a.scenarios[at], p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Why != "" {
		a.worsen(ExitDiffers)
		_, err = fmt.Fprintf(a.stdout, "%s %s: %s proves nothing: %s\n", f.Scenario, p.ID, path, r.Why)
		return err
	}
	kills := "; nobody is killed"
	switch {
	case f.Kills && r.Timed:
		kills = " and kills; nobody is delayed"
	case f.Kills:
		kills = " and kills"
	case r.Timed:
		kills += " or delayed"
	}
	if !f.InodesReused {
		kills += "; no inode number comes back"
	}
	_, err = fmt.Fprintf(a.stdout, "%s %s: %s%s (verified: %d views, %d configurations, %d runs of the program)\n",
		f.Scenario, p.ID, provedForAny, kills, r.Views, r.Configurations, r.Runs)
	return err
}

// oneProof says why a certificate cannot be written of these questions.
func oneProof(questions []question, path string) error {
	asked := 0
	for _, q := range questions {
		if q.sc.Setting.Alike() && parameterized.Asks(q.property) {
			asked++
		}
	}
	if asked > 1 {
		return fmt.Errorf("--certificate writes one proof, and %d may be found: name one scenario and --property",
			asked)
	}
	return writable([]output{{flag: "certificate", path: path}})
}

// writeCertificate writes a proof down, where there is one.
func (a *app) writeCertificate(ans *parameterized.Answer, path string) error {
	if !ans.Proved {
		return nil
	}
	text, err := ans.Certificate()
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("--certificate: nothing is written"), err)
	}
	return err
}
