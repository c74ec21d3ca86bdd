package all

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

// A Shape is a family of lock protocols that stand and fall together.
type Shape struct {
	// ID names the shape in flags and file names.
	ID string
	// Title says what the protocol does, and Is what it rests on and where it fails.
	Title, Is string
	// Variants are the protocols of this shape, each system/variant.
	Variants []string
	// Surveyed are the variants that stand for the shape in the table of hazards, each as good as the shape
	// gets with its kind of lock; empty where the shape is no lock to acquire and release.
	Surveyed []string
	// Fixed are the variants to copy instead, of this shape or another.
	Fixed []string
}

// Shapes lists the families, simple ones first. Every variant of [All] is in exactly one.
func Shapes() []Shape { return catalogue().Shapes }

// A catalogued is what catalogue.json says.
type catalogued struct {
	Shapes []Shape
	// Projects says of each system which programs and libraries have its protocol: the one
	// that it was written down from, and then those known to use it or to have the same.
	Projects map[string][]string
}

//go:embed catalogue.json
var catalogueText []byte

func catalogue() (c catalogued) {
	d := json.NewDecoder(bytes.NewReader(catalogueText))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		panic(err) // it is compiled in
	}
	return c
}
