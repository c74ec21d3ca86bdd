package command

import (
	"strings"

	"golang.org/x/tools/txtar"
)

// A saved counterexample of a run of commands has the archive of its commands and files in it,
// whose parts have this before their names.
const bundlePart = "run/"

// AddTo adds the commands and their files to a saved counterexample, a txtar archive.
func (s *Spec) AddTo(bundle []byte) ([]byte, error) {
	text, err := s.Format()
	if err != nil {
		return nil, err
	}
	a := txtar.Parse(bundle)
	for _, f := range txtar.Parse(text).Files {
		f.Name = bundlePart + f.Name
		a.Files = append(a.Files, f)
	}
	return txtar.Format(a), nil
}

// In reads the commands that [Spec.AddTo] has added to a saved counterexample. It returns nil
// where there are none.
func In(bundle []byte) (*Spec, error) {
	var own txtar.Archive
	for _, f := range txtar.Parse(bundle).Files {
		if name, ok := strings.CutPrefix(f.Name, bundlePart); ok {
			own.Files = append(own.Files, txtar.File{Name: name, Data: f.Data})
		}
	}
	if len(own.Files) == 0 {
		return nil, nil
	}
	s, err := Parse(txtar.Format(&own))
	return &s, err
}
