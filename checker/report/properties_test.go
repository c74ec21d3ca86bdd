package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/internal/golden"
)

// Scenarios' own properties are reported as ours are: the matrix has a column for each,
// the timeline says what is wrong in the property's words, JSON and SARIF keep to their
// schemas, JUnit and Markdown name them.
func TestOwnProperties(t *testing.T) {
	var rs []checker.Result
	for _, sc := range toys.Properties() {
		for _, c := range sc.Claims {
			r, err := checker.Check(context.Background(), &sc, c.Property, checker.Options{Workers: 1})
			require.NoError(t, err)
			rs = append(rs, r)
		}
	}
	var all bytes.Buffer
	require.NoError(t, Matrix(&all, rs, Options{}))
	for i := range rs {
		if rs[i].Counterexample != nil {
			all.WriteString("\n")
			require.NoError(t, Timeline(&all, &rs[i], Options{}))
		}
	}
	golden.Check(t, "properties.txt", all.String())

	got := text(t, func(b *bytes.Buffer) error { return JSON(b, rs, Options{}) })
	require.NoError(t, schema(t).Validate(decoded(t, got)))
	for i := range rs {
		rs[i].Claim = checker.Unknown // which is not what it got
	}
	sarif := text(t, func(b *bytes.Buffer) error { return SARIF(b, rs, Options{}) })
	junit := text(t, func(b *bytes.Buffer) error { return JUnit(b, rs, Options{}) })
	markdown := text(t, func(b *bytes.Buffer) error { return Markdown(b, rs, Options{}) })
	require.NoError(t, sarifSchemaOf(t).Validate(decoded(t, sarif)))
	for i := range rs {
		p := rs[i].Property
		require.Contains(t, sarif, strings.ReplaceAll(p.Meaning, `"`, `\"`))
		for _, text := range []string{got, sarif, junit, markdown} {
			require.Contains(t, text, p.ID)
		}
	}
}
