// Package checker explores a scenario's schedules, judges what they did, and explains
// how they break: [Check] covers every interleaving, [Sample] draws schedules, [Replay]
// follows one.
//
// It knows schedulers (package sched), the machine (package fsfake), specifications
// (package model) and the vocabulary of scenarios. It must not know any one scenario:
// a user's own is equal to ours. It must not know flags, files or terminals.
package checker
