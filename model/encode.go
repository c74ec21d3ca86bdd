package model

import (
	"encoding/binary"
	"fmt"
	"reflect"
)

// Recordable says why a value can be no input of a recorded operation; nil for one that can.
func Recordable(v any) (err error) {
	switch v := v.(type) {
	case Append:
		_, err = entry(v.Entry)
	case Advance:
		_, err = entry(max(0, v.To))
	case Add:
		err = nameable(v.Key)
	}
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	_ = appendTyped(nil, v)
	return nil
}

// appendTyped appends an unambiguous encoding of a comparable value, its type
// included. Equal values have equal encodings, different ones different, so that
// encodings can stand for values in keys.
func appendTyped(b []byte, v any) []byte {
	if v == nil {
		return append(b, 0)
	}
	t := reflect.TypeOf(v)
	b = append(b, 1)
	b = appendText(b, t.PkgPath())
	b = appendText(b, t.String())
	return appendValue(b, reflect.ValueOf(v))
}

// appendValue is appendTyped for a value whose type the reader knows. Pointers and
// channels have no encoding that means the same in another run; floats have two
// zeros that are equal. Specifications have no use for either.
func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.String:
		return appendText(b, v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendValue(b, v.Field(i))
		}
		return b
	case reflect.Array:
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	}
	kind := "nil"
	if v.IsValid() {
		kind = v.Type().String()
	}
	panic("model: a value of a specification cannot hold a " + kind)
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
