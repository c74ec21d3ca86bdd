package checker

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/model"
	"lockpick/scenarios"
)

// impure are programs that are not functions of what their calls answer, and what the
// report of each must say.
func impure() map[string]func() (program func(process, task int) scenarios.Program, says string) {
	type programs = func(process, task int) scenarios.Program
	const notAFunction = "is not a function of its calls"
	return map[string]func() (programs, string){
		"ranges over a map": func() (programs, string) {
			files := map[int]string{}
			for i := range 64 {
				files[i] = fmt.Sprintf("/file%d", i)
			}
			return fixtures.Same(func(t *scenarios.Task) {
				for _, name := range files { // whichever comes first
					_, _ = t.Stat(name)
					break
				}
				t.Work()
				t.Work()
			}), notAFunction
		},
		"counts its calls": func() (programs, string) {
			n := 0
			return fixtures.Same(func(t *scenarios.Task) {
				t.Work()
				n++
				_, _ = t.Stat(fmt.Sprintf("/file%d", n))
			}), notAFunction
		},
		"counts and tells": func() (programs, string) {
			n := 0
			return fixtures.Same(func(t *scenarios.Task) {
				scenarios.Record(t, model.Read{}, func() model.ReadValue {
					t.Work()
					n++
					return model.ReadValue{Value: fmt.Sprint(n)}
				})
			}), notAFunction
		},
		"counts and tells, then goes on": func() (programs, string) {
			n := 0
			return fixtures.Same(func(t *scenarios.Task) {
				scenarios.Record(t, model.Read{}, func() model.ReadValue {
					t.Work()
					n++
					return model.ReadValue{Value: fmt.Sprint(n)}
				})
				t.Work()
				t.Work()
			}), notAFunction
		},
		"ends now and then": func() (programs, string) {
			n := 0
			return fixtures.Same(func(t *scenarios.Task) {
				t.Work()
				if n++; n%2 == 0 {
					t.Work()
				}
			}), notAFunction
		},
		"tells other tasks past the cells": func() (programs, string) {
			held := false // a lock in memory that is no cell
			return fixtures.Same(func(t *scenarios.Task) {
				t.Work()
				if held {
					return
				}
				held = true
				t.Work()
				held = false
				t.Work()
			}), notAFunction
		},
		"tells other tasks past the cells, and only them": func() (programs, string) {
			busy := map[string]bool{} // as a task sees it alone it is always the same
			return fixtures.Same(func(t *scenarios.Task) {
				t.Work()
				if busy["A"] && t.Process == "B" {
					_ = t.Unlink(fixtures.Lock)
				}
				busy[t.Process] = true
				t.Work()
				delete(busy, t.Process)
			}), notAFunction
		},
		"counts attempts": func() (programs, string) {
			return fixtures.Same(func(t *scenarios.Task) {
				attempts := 0
				for retry := t.Retry(); retry.Next(); {
					if t.Mkdir("/lock", 0o755) == nil || attempts > 5 {
						return
					}
					attempts++
				}
			}), "carries something over"
		},
		"remembers a round": func() (programs, string) {
			return fixtures.Same(func(t *scenarios.Task) {
				name := "/first"
				for retry := t.Retry(); retry.Next(); {
					if t.Mkdir(name, 0o755) == nil {
						return
					}
					name = "/later"
				}
			}), "carries something over"
		},
	}
}

// They are reported with the task, and never get a verdict.
func TestImpureProgramsGetNoVerdict(t *testing.T) {
	for name, make := range impure() {
		for _, p := range []*scenarios.Property{scenarios.TornRead, scenarios.Deadlock} {
			for _, workers := range []int{1, 2} {
				program, says := make()
				sc := fixtures.Programs("toy/impure/contend", scenarios.Setting{Processes: 2}, program, scenarios.Claim{Property: p, Verdict: Holds})
				r, err := Check(context.Background(), sc, p, Options{Workers: workers})
				require.ErrorContains(t, err, says, "%s %s", name, p)
				require.Regexp(t, `task [AB]\b`, err.Error(), name)
				require.Equal(t, Unknown, r.Verdict, name)
				require.Nil(t, r.Counterexample, name)
			}
		}
	}
}
