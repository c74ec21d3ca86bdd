package numbers

import (
	"strings"
	"time"
)

// inDays is the shortest time that is told in days: people say 48h, but not 8760h.
const day, inDays = 24 * time.Hour, 72 * time.Hour

// Time renders how long something takes, in milliseconds at the finest and without what is zero at its end: "2m",
// "48h", "1.5s", "365 days", "400 days 1h1m1s".
func Time(d time.Duration) string {
	if d < 0 {
		return "-" + Time(-d)
	}
	text := ""
	if d >= inDays {
		text, d = Number(int(d/day))+" days", d%day
		if d < time.Millisecond {
			return text
		}
		text += " "
	}
	short := d.Truncate(time.Millisecond).String()
	if strings.HasSuffix(short, "m0s") {
		short = strings.TrimSuffix(short, "0s")
	}
	if strings.HasSuffix(short, "h0m") {
		short = strings.TrimSuffix(short, "0m")
	}
	return text + short
}
