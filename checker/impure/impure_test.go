package impure_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"lockpick/checker/impure"
	"lockpick/internal/testmain"
)

// Each comment "want" is an offence that is reported there, and there are no others.
func TestAnalyzer(t *testing.T) {
	testmain.Slow(t, "it loads packages with their types", "./checker/impure")
	analysistest.Run(t, analysistest.TestData(), impure.Analyzer, "locks", "helper")
}
