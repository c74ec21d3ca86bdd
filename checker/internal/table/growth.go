package table

// grow returns a table by open addressing of twice the size, at least of the least, with
// everything that is in the old one. hash tells where an entry belongs, from its lowest
// bits on, and whether there is one; put copies an entry to a free place.
func grow[E any](old []E, least int, hash func(*E) (h uint64, used bool), put func(to, from *E)) []E {
	entries := room[E](max(least, 2*len(old)))
	mask := uint64(len(entries) - 1)
	for i := range old {
		h, used := hash(&old[i])
		if !used {
			continue
		}
		at := h & mask
		for _, taken := hash(&entries[at]); taken; _, taken = hash(&entries[at]) {
			at = (at + 1) & mask
		}
		put(&entries[at], &old[i])
	}
	return entries
}
