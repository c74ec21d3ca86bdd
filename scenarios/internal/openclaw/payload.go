// Package openclaw has the text of the lock files of OpenClaw's sessions, which two families of scenarios write and read.
//
// It knows the text and no lock: what a text that cannot be read means is for those who read it to say.
package openclaw

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Payload is the text of a lock file. The zero value stands for a text that is missing or not readable.
type Payload struct {
	Pid       int    `json:"pid"`
	CreatedAt string `json:"createdAt"`
	StartTime int64  `json:"starttime,omitempty"`
}

// Text is the payload as JSON.stringify writes it. CreatedAt must be a time in ISO 8601, or empty.
func (p Payload) Text() []byte {
	text := strconv.AppendInt([]byte(`{"pid":`), int64(p.Pid), 10)
	text = append(append(append(text, `,"createdAt":"`...), p.CreatedAt...), '"')
	if p.StartTime != 0 {
		text = strconv.AppendInt(append(text, `,"starttime":`...), p.StartTime, 10)
	}
	return append(text, '}')
}

// Parse reads a payload as JSON.parse does; one that is not readable is the zero value. What Text wrote, as nearly all is that a
// program finds in thousands of rounds, is recognised without a decoder.
func Parse(text []byte) Payload {
	if p := written(text); strings.Trim(p.CreatedAt, "0123456789-:TZ") == "" && bytes.Equal(text, p.Text()) {
		return p
	}
	var p Payload
	if json.Unmarshal(text, &p) != nil {
		return Payload{}
	}
	return p
}

// written guesses what Text wrote a text of.
func written(text []byte) (p Payload) {
	field := func() (value string) {
		var part []byte
		part, text, _ = bytes.Cut(text, []byte(","))
		_, part, _ = bytes.Cut(part, []byte(":"))
		return string(bytes.Trim(part, `"}`))
	}
	p.Pid, _ = strconv.Atoi(field())
	p.CreatedAt = field()
	p.StartTime, _ = strconv.ParseInt(field(), 10, 64)
	return p
}
