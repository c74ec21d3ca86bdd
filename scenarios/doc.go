// Package scenarios is the vocabulary in which a lock protocol and the question
// asked of it are written down: Protocol, Task, Scenario, Setting, Property, Claim.
//
// It knows the fake machine (package fsfake) and the specifications (package model).
// It must not know how a scenario is explored or judged: that is package checker.
// The reported systems are in the packages below this one, one each; package
// scenarios/all lists them. A scenario of your own is equal to them, and so is a property
// of your own ([Property]).
//
// Limits: a process has at most 26 peers (processes are named A to Z), the tasks of
// a process are counted before the run (some of them may begin later: [Task.Start]), and what tasks share must be in fsfake.Cell.
package scenarios
