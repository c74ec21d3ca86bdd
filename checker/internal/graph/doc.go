// Package graph answers the questions about an explored space that need its edges: the
// strongly connected components (Tarjan 1972, without recursion), the odds that a
// uniformly random scheduler meets a violation, and fair cycles in which a task starves.
//
// It knows numbers only: states, edges, and whose step an edge is. It must not know
// scenarios, machines or how the space was explored.
//
// # Limits
//
// Fewer than 1<<32 states and edges, and at most 127 tasks. Odds are bounded from both sides, and may
// remain bounds where it takes too long until these meet.
package graph
