package numbers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/numbers"
)

func TestInWords(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", 309222: "309 222", 2.1e9: "2.1 billion", 999999: "999 999", 1e6: "1 million", 309.4e6: "309 million",
		51.2e12: "51 trillion", 999.6e9: "1 trillion", 6.5e18: "more than 10^18", 2.2e100: "more than 10^100",
	} {
		require.Equal(t, want, numbers.InWords(n))
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 states", 1: "1 state", 2: "2 states", 9999: "9999 states",
		10_000: "10 000 states", 1_234_567: "1 234 567 states",
	} {
		require.Equal(t, want, numbers.Count(n, "state", "states"))
	}
}

func TestTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Minute: "1m", 48 * time.Hour: "48h", 90 * time.Minute: "1h30m", 20 * time.Second: "20s",
		1500 * time.Millisecond: "1.5s", 8760 * time.Hour: "365 days", -73 * time.Hour: "-3 days 1h",
		400*24*time.Hour + time.Hour + time.Minute + time.Second: "400 days 1h1m1s", 72*time.Hour + 1: "3 days",
		-time.Hour: "-1h", 36525 * 24 * time.Hour: "36 525 days",
	} {
		require.Equal(t, want, numbers.Time(d))
	}
}
