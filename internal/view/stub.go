//go:build !linux

package view

import "syscall"

// A View is what a process sees. On this platform there is none.
type View struct{}

// Attr is nil.
func Attr() *syscall.SysProcAttr { return nil }

// Enter fails.
func Enter(Options) (*View, error) { return nil, ErrPlatform }

// File is empty.
func (*View) File(string) string { return "" }

// Changes fails.
func (*View) Changes() ([]Change, error) { return nil, ErrPlatform }

// NamedElsewhere fails.
func NamedElsewhere(string) ([]string, error) { return nil, ErrPlatform }

// CopyTree fails.
func CopyTree(string, string) error { return ErrPlatform }
