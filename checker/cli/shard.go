package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// Environment variables that number the jobs of Bazel and of GitLab.
const (
	bazelIndex  = "TEST_SHARD_INDEX"
	bazelTotal  = "TEST_TOTAL_SHARDS"
	gitlabIndex = "CI_NODE_INDEX" // from 1
	gitlabTotal = "CI_NODE_TOTAL"
)

func addShardFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "shard", "", "decide only part `I/N` of the questions (I from 0), or env: one of the jobs of Bazel or GitLab")
}

// part returns the questions that are a shard's: every Nth. Each is decided by one shard, which has
// its verdict, so there is nothing to merge.
func part(questions []question, shard string, env func(string) string) ([]question, error) {
	if shard == "" {
		return questions, nil
	}
	i, n, err := parseShard(shard, env)
	if err != nil {
		return nil, err
	}
	var mine []question
	for k, q := range questions {
		if k%n == i {
			mine = append(mine, q)
		}
	}
	if len(mine) == 0 {
		return nil, fmt.Errorf("--shard %s: there are %d questions, and none is left for this part: choose fewer parts", shard, len(questions))
	}
	return mine, nil
}

// parseShard reads the flag's value: which part, from 0, of how many.
func parseShard(text string, env func(string) string) (i, n int, err error) {
	index, total, _ := strings.Cut(text, "/")
	from := 0
	if text == "env" {
		switch {
		case env(bazelIndex) != "" && env(bazelTotal) != "":
			index, total = env(bazelIndex), env(bazelTotal)
		case env(gitlabIndex) != "" && env(gitlabTotal) != "":
			index, total, from = env(gitlabIndex), env(gitlabTotal), 1
		default:
			return 0, 0, fmt.Errorf("--shard env: neither %s and %s nor %s and %s are set: say I/N", bazelIndex, bazelTotal, gitlabIndex, gitlabTotal)
		}
	}
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(total)
	if i -= from; err1 != nil || err2 != nil || i < 0 || n < 1 || i >= n {
		return 0, 0, fmt.Errorf("--shard %s: want I/N with I from 0 to N-1, not %s/%s", text, index, total)
	}
	return i, n, nil
}
