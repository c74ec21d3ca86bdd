//go:build race

package checker

// raceDetector: the tests run under the race detector.
const raceDetector = true
