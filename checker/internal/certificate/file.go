package certificate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"lockpick/fsfake"
)

// Version is the first line of a certificate, but for what it is about.
const Version = "certificate, version 2"

// A Header says what a certificate is about. Kills has processes killed at any moment, InodesReused has numbers of
// files come back. Inside and Makers say what views remember: whether somebody else holds a lock, and who has made a
// file. Sizes says that the program is told sizes. Start is the node in which it makes its first call.
type Header struct {
	Lockpick                                   string
	Scenario, Property                         string
	Kills, InodesReused, Inside, Makers, Sizes bool
	Start                                      uint32
}

// An Edge says that the program goes on to node To after the call of node From is answered so. It ends in node 1.
type Edge struct {
	From   uint32
	Answer fsfake.Result
	To     uint32
}

// A File is a certificate.
type File struct {
	Header
	edges []Edge
	views []config
}

// Seal is the last line of a certificate, which tells whether a byte of it has changed.
func Seal(text []byte) string { return fmt.Sprintf("{\"SHA256\":\"%x\"}\n", sha256.Sum256(text)) }

// Read reads a certificate. The error says in which line it is broken.
func Read(text []byte) (*File, error) {
	f := &File{}
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	err := strict(lines[0], &f.Header)
	if err != nil || f.Lockpick != Version {
		return nil, fmt.Errorf("it is no certificate: its first line should begin with {\"Lockpick\":%q", Version)
	}
	last := lines[len(lines)-1]
	if Seal(text[:len(text)-len(last)-1]) != string(last)+"\n" {
		return nil, errors.New("a byte has changed, or lines are missing: its last line is not the SHA-256 of the " +
			"others. Make it anew with lockpick check --certificate")
	}
	for i, line := range lines[1 : len(lines)-1] {
		var l struct {
			Edge *Edge
			View *config
		}
		if err := strict(line, &l); err != nil || (l.Edge == nil) == (l.View == nil) {
			return nil, fmt.Errorf("line %d is neither an edge nor a view: %v", i+2, err)
		}
		if l.Edge != nil {
			f.edges = append(f.edges, *l.Edge)
		} else {
			f.views = append(f.views, *l.View)
		}
	}
	return f, nil
}

func strict(line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(to)
}
