//go:build !race

package race

// Detector: the tests run under the race detector.
const Detector = false
