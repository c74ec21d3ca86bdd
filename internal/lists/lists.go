// Package lists makes a list of another, element by element.
package lists

// Map returns what f makes of each element; nil of none.
func Map[S ~[]E, E, T any](list S, f func(E) T) []T {
	if len(list) == 0 {
		return nil
	}
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

// Filter returns the elements that are to be kept; nil where none is.
func Filter[S ~[]E, E any](list S, keep func(E) bool) S {
	var out S
	for _, e := range list {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}
