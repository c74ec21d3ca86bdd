package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A shardFile is what check --shard writes and merge reads.
type shardFile struct {
	Version int                   `json:"version"`
	Results []checker.ShardResult `json:"results"`
}

const shardVersion = 3

// Environment variables that number the parts of a job.
const (
	bazelIndex = "TEST_SHARD_INDEX"
	bazelTotal = "TEST_TOTAL_SHARDS"
	jobIndex   = "JOB_COMPLETION_INDEX"
)

// shardFlags split an exploration between machines.
type shardFlags struct {
	shard, out string
}

func addShardFlags(c *cobra.Command) *shardFlags {
	f := &shardFlags{}
	c.Flags().StringVar(&f.shard, "shard", "", "explore only part `I/N` (I from 0), or env, or env/N: see \"lockpick merge --help\"")
	c.Flags().StringVar(&f.out, "out", "", "write the part's result to `FILE` (default standard output)")
	return f
}

// parseShard reads the flag's value.
func parseShard(text string, env func(string) string) (checker.Shard, error) {
	index, total, split := strings.Cut(text, "/")
	if index == "env" {
		switch {
		case env(bazelIndex) != "" && env(bazelTotal) != "" && !split:
			index, total = env(bazelIndex), env(bazelTotal)
		case env(jobIndex) != "" && split:
			index = env(jobIndex)
		case env(bazelIndex) != "" && split:
			index = env(bazelIndex)
		default:
			return checker.Shard{}, fmt.Errorf("--shard %s: env needs %s and %s in the environment, env/N needs %s", text, bazelIndex, bazelTotal, jobIndex)
		}
	}
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(total)
	if err1 != nil || err2 != nil || i < 0 || n < 1 || i >= n {
		return checker.Shard{}, fmt.Errorf("--shard %s: want I/N with I from 0 to N-1, not %s/%s", text, index, total)
	}
	return checker.Shard{Index: i, Of: n}, nil
}

// checkShard explores one shard of every question and writes what it found. It makes no
// verdict: the exit code only says whether the part was covered.
func (a *app) checkShard(ctx context.Context, questions []question, f *checkFlags, o checker.Options) error {
	s, err := parseShard(f.shard.shard, a.env)
	if err != nil {
		return err
	}
	bar := a.newProgress(ctx, len(questions), f.options.Quiet)
	defer bar.clear()
	o.Progress = bar.follow
	file := shardFile{Version: shardVersion}
	for _, q := range questions {
		bar.begin(q.sc.ID, q.property.ID)
		r, err := checker.CheckShard(ctx, q.sc, q.property, o, s)
		if err != nil {
			return err
		}
		if !r.Complete {
			a.worsen(ExitUnknown)
		}
		file.Results = append(file.Results, r)
	}
	w := a.stdout
	if f.shard.out != "" {
		to, err := os.Create(f.shard.out)
		if err != nil {
			return err
		}
		defer to.Close()
		w = to
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(file)
}

func (a *app) mergeCommand() *cobra.Command {
	f := &checkFlags{}
	states := 0
	c := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Merge the results of shards into verdicts",
		Long: `Merge the results of shards into verdicts.

What outgrows one machine is explored in N parts, each on a machine of its own:

    lockpick check --shard 0/N --out part-0.json PATTERN...
    ...
    lockpick merge part-*.json

With --shard env/N the part's number comes from JOB_COMPLETION_INDEX (an Indexed Job of
Kubernetes), with --shard env both numbers come from TEST_SHARD_INDEX and
TEST_TOTAL_SHARDS (Bazel). The verdicts, the number of distinct violations and the
smallest counterexamples are those of a run that was not split; a missing part makes a
verdict unknown. The parts know the setting that they were explored in; it must be one.`,
		Args: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				return fmt.Errorf("merge takes the files that check --shard wrote, or the last lines of expand: see \"%s --help\"", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, files []string) error { return a.merge(c, files, f, states) },
	}
	f.setting, f.formats, f.github = &settingFlags{}, addFormatFlags(c), addGitHubFlag(c)
	c.Flags().BoolVar(&f.options.Quiet, "quiet", false, "print only what is not as claimed")
	c.Flags().BoolVar(&f.options.Verbose, "verbose", false, "print counterexamples and counts too")
	addDateFlag(c.Flags(), &f.date)
	c.Flags().IntVar(&states, "states", 0, "the files have the last lines of expand, and there were `N` states")
	return c
}

// merge reads the files, and makes one verdict of all shards of each question.
func (a *app) merge(c *cobra.Command, files []string, f *checkFlags, states int) error {
	if err := f.refuse(files...); err != nil {
		return err
	}
	var results []checker.Result
	var err error
	if c.Flags().Changed("states") {
		results, err = mergeExpanded(a, files, states)
	} else {
		results, err = mergeShards(a, files)
	}
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

// mergeShards makes verdicts of what check --shard wrote.
func mergeShards(a *app, files []string) ([]checker.Result, error) {
	parts := map[checked][]checker.ShardResult{}
	var order []checked
	for _, name := range files {
		file, err := readShards(name)
		if err != nil {
			return nil, err
		}
		for _, r := range file.Results {
			k := checked{r.Scenario, r.Property}
			if parts[k] == nil {
				order = append(order, k)
			}
			parts[k] = append(parts[k], r)
		}
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("%s has no results: nothing was asked of that shard", strings.Join(files, ", "))
	}
	var results []checker.Result
	for _, k := range order {
		sc, err := a.one(k.scenario)
		if err != nil {
			return nil, err
		}
		p, err := a.property(k.property, sc)
		if err != nil {
			return nil, err
		}
		r, err := mergeParts(sc, p, parts[k])
		if err != nil {
			return nil, err
		}
		a.worsen(exitOf(&r))
		results = append(results, r)
	}
	return results, nil
}

// mergeParts merges the shards of one question, in the setting of the first.
func mergeParts(sc scenarios.Scenario, p *scenarios.Property, parts []checker.ShardResult) (checker.Result, error) {
	st, err := scenarios.ParseSetting(parts[0].Setting, scenarios.Setting{})
	if err != nil {
		return checker.Result{}, err
	}
	if sc, _, err = sc.Restored(st); err != nil { // Merge says what else differs
		return checker.Result{}, err
	}
	return checker.Merge(&sc, p, parts)
}

// checked names what a shard answers.
type checked struct {
	scenario string
	property string
}

func readShards(name string) (shardFile, error) {
	var file shardFile
	r, err := os.Open(name)
	if err != nil {
		return file, err
	}
	defer r.Close()
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return file, fmt.Errorf("%s is not a result of check --shard: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return file, fmt.Errorf("%s is not a result of check --shard: there is more after its end", name)
	}
	if file.Version != shardVersion {
		return file, fmt.Errorf("%s has version %d, this lockpick reads %d", name, file.Version, shardVersion)
	}
	return file, nil
}
