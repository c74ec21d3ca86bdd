//go:build race

package fsfake_test

const raceEnabled = true
