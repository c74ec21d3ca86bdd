package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockpick/scenarios"
)

// settingFlags change the setting of a scenario. A flag that is not given changes
// nothing.
type settingFlags struct {
	cmd                    *cobra.Command
	procs, crashes, stalls int
	stallFor               time.Duration
}

// defaultStall is how far the clock jumps in a stall, when the scenario does not say:
// past every lease that anybody uses.
const defaultStall = time.Hour

func addSettingFlags(c *cobra.Command) *settingFlags {
	f := &settingFlags{cmd: c}
	fs := c.Flags()
	fs.IntVar(&f.procs, "procs", 0, "change the number of processes to `N`")
	fs.IntVar(&f.crashes, "crashes", 0, "let up to `K` processes be killed")
	fs.IntVar(&f.stalls, "stalls", 0, "let the clock jump ahead up to `K` times")
	fs.DurationVar(&f.stallFor, "stall-for", 0, "how far it jumps (default what the scenario says, or 1h)")
	return f
}

// validate reports values that make sense for no scenario.
func (f *settingFlags) validate() error {
	given := f.cmd.Flags().Changed
	switch {
	case given("procs") && (f.procs < 1 || f.procs > 26):
		return fmt.Errorf("--procs %d: choose 1 to 26", f.procs)
	case f.crashes < 0:
		return fmt.Errorf("--crashes %d: choose 0 or more", f.crashes)
	case f.stalls < 0:
		return fmt.Errorf("--stalls %d: choose 0 or more", f.stalls)
	case given("stall-for") && f.stallFor <= 0:
		return fmt.Errorf("--stall-for %s: choose more than 0", f.stallFor)
	}
	return nil
}

// apply returns the scenario in the changed setting.
func (f *settingFlags) apply(sc scenarios.Scenario) (scenarios.Scenario, error) {
	given := f.cmd.Flags().Changed
	if given("procs") {
		var err error
		if sc, err = sc.WithProcesses(f.procs); err != nil {
			return sc, err
		}
	}
	st := &sc.Setting
	if given("crashes") {
		st.Crashes = f.crashes
	}
	if given("stalls") {
		st.Stalls = f.stalls
	}
	if given("stall-for") {
		st.StallFor = f.stallFor
	}
	if st.Stalls > 0 && st.StallFor <= 0 {
		st.StallFor = defaultStall
	}
	return sc, nil
}

// text is the flags as they were given, for printed commands.
func (f *settingFlags) text() string {
	var words []string
	for _, name := range []string{"procs", "crashes", "stalls", "stall-for"} {
		if flag := f.cmd.Flags().Lookup(name); flag.Changed {
			words = append(words, "--"+name+" "+flag.Value.String())
		}
	}
	return strings.Join(words, " ")
}
