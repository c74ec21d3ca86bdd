// Package table holds the hash tables of an exploration: [States] numbers rows of words, [Interner] any comparable
// values; [Shared] maps 64-bit keys to small values, for all workers. They take little memory for each entry, and hold
// few pointers. States are packed.
//
// It knows nothing of what is stored. Numbers are given in the order of arrival.
//
// # Limits
//
// A table holds fewer than 1<<32 entries. Nothing is ever removed but from a [Shared]. Only [Shared] may be used by
// several at once; of [States] each shard by one.
package table
