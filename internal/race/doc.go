// Package race says whether tests run under the race detector, which takes ten times the time
// and the memory. What it looks for is the concurrency of workers: what one of them alone does
// to the end of a large space is left to the run without it. It is for tests only.
package race

// States bounds the states of each verdict on a row under the detector: by then every
// worker has run the row's protocol, and the rest is more of the same. Nothing is
// concluded from so few; go test without -race decides every row.
const States = 500
