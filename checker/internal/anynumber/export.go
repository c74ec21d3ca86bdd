package anynumber

import (
	"bytes"
	"encoding/json"
	"slices"

	"lockpick/checker/internal/certificate"
	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
)

// Certificate writes a proof down, with the edges of the program that it makes use of, as package certificate reads it.
func (s *System) Certificate(p *scenarios.Property, proof *Proof) ([]byte, error) {
	how := proof.How
	if how.K > 1 || how.Names {
		return nil, Refused{"a certificate has no views of two processes, and none with names that hold the pids " +
			"of others"}
	}
	lines := []any{certificate.Header{Lockpick: certificate.Version, Scenario: s.sc.ID, Property: p.ID,
		Kills: s.sc.Setting.Crashes > 0, InodesReused: s.reuses, Inside: how.Inside, Makers: how.Makers, Sizes: s.sizes,
		Start: s.a.First()}}
	for _, e := range s.edges {
		to, err := s.a.Learn(e.from, e.result)
		if err != nil {
			return nil, err
		}
		lines = append(lines, struct{ Edge certificate.Edge }{certificate.Edge{From: e.from, Answer: *e.result,
			To: to.To &^ learn.Begun}})
	}
	for _, v := range proof.list() {
		lines = append(lines, struct{ View Config }{v})
	}
	var out bytes.Buffer
	for _, l := range lines {
		text, err := short(l)
		if err != nil {
			return nil, err
		}
		out.Write(append(text, '\n'))
	}
	out.WriteString(certificate.Seal(out.Bytes()))
	return out.Bytes(), nil
}

// list is the views in the order of their keys.
func (p *Proof) list() (all []Config) {
	var keys []string
	for k := range p.Views { // order does not matter: they are sorted
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		all = append(all, p.Views[k])
	}
	return all
}

// short is a value as JSON without the fields that are zero.
func short(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var is any
	if err := d.Decode(&is); err != nil {
		return nil, err
	}
	return json.Marshal(pruned(is))
}

// pruned leaves out the fields of objects that are zero, and not the elements of lists.
func pruned(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for k, e := range v { // order does not matter: each field is for itself
			switch e {
			case nil, false, "", json.Number("0"):
				delete(v, k)
			default:
				v[k] = pruned(e)
			}
		}
	}
	return v
}
