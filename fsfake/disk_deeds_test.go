package fsfake

import (
	"os"
	"strings"
)

// Deeds that real disks were cut off in, and what they left.

// on are disks, as text, by what they are on.
type on map[Disk][]string

// deedsOfDisks are patterns of calls that real ext4, xfs and btrfs were cut off in (Linux 6.18, 60 000 cuts). What was
// seen there must be legal; never was never seen on the three.
var deedsOfDisks = map[string]struct {
	calls       func(p *Proc)
	seen, never on
}{
	"write, rename over": {
		func(p *Proc) {
			_ = p.WriteFile("/t", []byte("NN"), 0o644)
			_ = p.Rename("/t", "/f")
		},
		on{
			DiskExt4:  {"d/  f=ooo", "d/  f=NN", "d/  f=0*2", "d/  f=ooo t="},
			DiskXfs:   {"d/  f=ooo", "d/  f=NN", "d/  f=", "d/  f=ooo t="},
			DiskBtrfs: {"d/  f=ooo", "d/  f=NN", "d/  f=", "d/  f=ooo t="},
		},
		on{
			DiskExt4:  {"d/  f="},
			DiskXfs:   {"d/  f=0*2"},
			DiskBtrfs: {"d/  f=0*2"},
		},
	},
	"write, rename over, fsync of the directory": {
		func(p *Proc) {
			_ = p.WriteFile("/t", []byte("NN"), 0o644)
			_ = p.Rename("/t", "/f")
			fsyncs(p, "/")
		},
		on{
			DiskExt4:  {"d/  f=NN", "d/  f=0*2"},
			DiskXfs:   {"d/  f=NN", "d/  f="},
			DiskBtrfs: {"d/  f=NN", "d/  f="},
		},
		on{
			DiskExt4:  {"d/  f=", "d/  f=ooo"},
			DiskXfs:   {"d/  f=ooo", "d/  f=0*2"},
			DiskBtrfs: {"d/  f=ooo"},
		},
	},
	"write, fsync, rename over": {
		func(p *Proc) {
			_ = p.WriteFile("/t", []byte("NN"), 0o644)
			fsyncs(p, "/t")
			_ = p.Rename("/t", "/f")
		},
		on{
			DiskExt4:  {"d/  f=NN", "d/  f=ooo t=NN"},
			DiskXfs:   {"d/  f=NN", "d/  f=ooo t=NN"},
			DiskBtrfs: {"d/  f=NN", "d/  f=ooo t=NN"},
		},
		on{
			DiskPosix: {"d/  f="},
			DiskExt4:  {"d/  f=ooo"},
			DiskXfs:   {"d/  f=ooo"},
			DiskBtrfs: {"d/  f=ooo"},
		},
	},
	"unlink, fdatasync of the directory": {
		func(p *Proc) {
			_ = p.Unlink("/f")
			datasyncs(p, "/")
		},
		on{
			DiskPosix: {"d/"},
			DiskExt4:  {"d/"},
			DiskXfs:   {"d/"},
			DiskBtrfs: {"d/"},
		},
		on{
			DiskPosix: {"d/  f=ooo"},
			DiskExt4:  {"d/  f=ooo"},
			DiskXfs:   {"d/  f=ooo"},
			DiskBtrfs: {"d/  f=ooo"},
		},
	},
	"create, fsync": {
		func(p *Proc) {
			_ = p.WriteFile("/t", []byte("NN"), 0o644)
			fsyncs(p, "/t")
		},
		on{
			DiskPosix: {"d/  f=ooo"},
			DiskExt4:  {"d/  f=ooo t=NN"},
			DiskXfs:   {"d/  f=ooo t=NN"},
			DiskBtrfs: {"d/  f=ooo t=NN"},
		},
		on{
			DiskExt4:  {"d/  f=ooo"},
			DiskXfs:   {"d/  f=ooo"},
			DiskBtrfs: {"d/  f=ooo"},
		},
	},
	"append": {
		func(p *Proc) { atEnd(p, "NN") },
		on{
			DiskExt4:  {"d/  f=o*3", "d/  f=o*3N*2", "d/  f=o*30*2"},
			DiskXfs:   {"d/  f=o*3", "d/  f=o*3N*2"},
			DiskBtrfs: {"d/  f=o*3", "d/  f=o*3N*2"},
		},
		on{
			DiskXfs:   {"d/  f=o*30*2"},
			DiskBtrfs: {"d/  f=o*30*2"},
		},
	},
	"append of many blocks": {
		func(p *Proc) { atEnd(p, strings.Repeat("N", 8192)) },
		on{
			DiskExt4: {"d/  f=o*3N*4093", "d/  f=o*3N*8189", "d/  f=o*30*8192"},
		},
		on{
			DiskBtrfs: {"d/  f=o*3N*4093"},
		},
	},
	"rename into another directory, fsync of that": {
		func(p *Proc) {
			_ = p.Rename("/f", "/d/f")
			fsyncs(p, "/d")
		},
		on{
			DiskExt4:  {"d/ f=o*3"},
			DiskXfs:   {"d/ f=o*3"},
			DiskBtrfs: {"d/ f=o*3", "d/ f=o*3 f=o*3"},
			DiskPosix: {"d/ f=o*3 f=o*3"},
		},
		on{
			DiskExt4:  {"d/", "d/  f=o*3"},
			DiskXfs:   {"d/", "d/  f=o*3"},
			DiskBtrfs: {"d/", "d/  f=o*3"},
		},
	},
	"ftruncate shorter, append": {
		func(p *Proc) {
			_ = p.Truncate("/f", 1)
			atEnd(p, "N")
		},
		on{
			DiskExt4:  {"d/  f=o*3", "d/  f=o", "d/  f=oN", "d/  f=o0*2", "d/  f=o0"},
			DiskXfs:   {"d/  f=o*3", "d/  f=oN", "d/  f=o0*2"},
			DiskBtrfs: {"d/  f=o*3", "d/  f=o", "d/  f=oN"},
		},
		on{
			DiskBtrfs: {"d/  f=o0*2"},
		},
	},
	"ftruncate to nothing": {
		func(p *Proc) { _ = p.Truncate("/f", 0) },
		on{
			DiskPosix: {"d/  f=o*3", "d/  f="},
			DiskExt4:  {"d/  f=o*3", "d/  f="},
			DiskXfs:   {"d/  f=o*3", "d/  f="},
			DiskBtrfs: {"d/  f=o*3", "d/  f="},
		},
		on{
			DiskPosix: {"d/  f=0*3"},
			DiskExt4:  {"d/  f=0*3"},
			DiskXfs:   {"d/  f=0*3"},
			DiskBtrfs: {"d/  f=0*3"},
		},
	},
	"ftruncate longer": {
		func(p *Proc) { _ = p.Truncate("/f", 5000) },
		on{
			DiskPosix: {"d/  f=o*3", "d/  f=o*30*4997"},
			DiskExt4:  {"d/  f=o*3", "d/  f=o*30*4997"},
			DiskXfs:   {"d/  f=o*3", "d/  f=o*30*4997"},
			DiskBtrfs: {"d/  f=o*3", "d/  f=o*30*4997"},
		},
		on{
			DiskPosix: {"d/  f=o*30*4093"},
			DiskExt4:  {"d/  f=o*30*4093"},
			DiskXfs:   {"d/  f=o*30*4093"},
			DiskBtrfs: {"d/  f=o*30*4093"},
		},
	},
	"overwrite, ftruncate longer": {
		func(p *Proc) {
			f, _ := p.OpenFile("/f", os.O_WRONLY, 0)
			_, _ = f.WriteString("NNN")
			_ = f.Truncate(5)
		},
		on{
			DiskPosix: {"d/  f=o*3", "d/  f=N*3", "d/  f=N*30*2", "d/  f=o*30*2"},
			DiskExt4:  {"d/  f=o*3", "d/  f=N*3", "d/  f=N*30*2", "d/  f=o*30*2"},
		},
		on{},
	},
	"ftruncate to nothing, append": {
		func(p *Proc) {
			_ = p.Truncate("/f", 0)
			atEnd(p, "NN")
		},
		on{
			DiskPosix: {"d/  f=o*3", "d/  f=", "d/  f=NN", "d/  f=0*2"},
			DiskExt4:  {"d/  f=o*3", "d/  f=", "d/  f=NN", "d/  f=0*2"},
		},
		on{},
	},
	"ftruncate to nothing, append many blocks": {
		func(p *Proc) {
			atEnd(p, strings.Repeat("o", 8189))
			fsyncs(p, "/f")
			_ = p.Truncate("/f", 0)
			atEnd(p, strings.Repeat("N", 8192))
		},
		on{
			DiskPosix: {"d/  f=o*4096N*4096"},
			DiskExt4:  {"d/  f=o*8192", "d/  f=", "d/  f=N*8192", "d/  f=N*4096", "d/  f=0*4096N*4096"},
			DiskXfs:   {"d/  f=o*8192", "d/  f=", "d/  f=N*8192", "d/  f=N*4096"},
		},
		on{
			DiskExt4: {"d/  f=o*4096N*4096", "d/  f=N*4096o*4096", "d/  f=o*4096", "d/  f=0*4096o*4096"},
			DiskXfs:  {"d/  f=o*4096N*4096", "d/  f=N*4096o*4096", "d/  f=o*4096", "d/  f=0*4096N*4096"},
		},
	},
	"ftruncate to nothing, append, ftruncate to nothing, append": {
		func(p *Proc) {
			for _, s := range []string{"NN", "MMMM", "NN"} {
				_ = p.Truncate("/f", 0)
				atEnd(p, s)
			}
		},
		on{DiskExt4: {"d/  f=o*3", "d/  f=", "d/  f=N*2", "d/  f=M*4", "d/  f=0*4"}},
		on{},
	},
	"ftruncate shorter, overwrite": {
		func(p *Proc) {
			atEnd(p, strings.Repeat("o", 8189))
			fsyncs(p, "/f")
			_ = p.Truncate("/f", 4097)
			f, _ := p.OpenFile("/f", os.O_WRONLY, 0)
			_, _ = f.WriteString("N")
			_ = f.Truncate(8192)
		},
		on{
			DiskExt4: {"d/  f=o*8192", "d/  f=No*8191", "d/  f=o*40970*4095", "d/  f=No*40960*4095", "d/  f=o*4097"},
			DiskXfs:  {"d/  f=o*8192", "d/  f=No*8191", "d/  f=o*40970*4095", "d/  f=No*40960*4095", "d/  f=o*4097"},
		},
		on{},
	},
	"append of blocks, ftruncate shorter": {
		func(p *Proc) {
			_ = p.WriteFile("/t", []byte(strings.Repeat("N", 8192)), 0o644)
			_ = p.Truncate("/t", 4096)
		},
		on{DiskExt4: {"d/  f=o*3 t=0*4096", "d/  f=o*3 t=N*4096", "d/  f=o*3 t=0*4096N*4096"}},
		on{DiskXfs: {"d/  f=o*3 t=0*4096"}},
	},
	"overwrite, sync": {
		func(p *Proc) {
			f, _ := p.OpenFile("/f", os.O_WRONLY, 0)
			_, _ = f.WriteString("NN")
			_ = f.Close()
			_ = p.WriteFile("/t", []byte("NN"), 0o644)
			_ = p.Do(Op{Call: CallFsync, FD: -1, Flags: SyncAll})
		},
		on{DiskXfs: {"d/  f=o*3 t=N*2", "d/  f=N*2o t=N*2"}},
		on{
			DiskPosix: {"d/  f=o*3 t=N*2"}, DiskExt4: {"d/  f=o*3 t=N*2"}, DiskBtrfs: {"d/  f=o*3 t=N*2"},
			DiskXfs: {"d/  f=N*2o", "d/  f=N*2o t="},
		},
	},
	"rename into another directory, fsync of the first": {
		func(p *Proc) {
			_ = p.Rename("/f", "/d/f")
			fsyncs(p, "/")
		},
		on{DiskBtrfs: {"d/ f=o*3"}, DiskPosix: {"d/", "d/ f=o*3"}},
		on{DiskExt4: {"d/"}, DiskXfs: {"d/"}, DiskBtrfs: {"d/"}},
	},
	"O_DSYNC, not ended": {
		func(p *Proc) {
			f, _ := p.OpenFile("/f", os.O_WRONLY|O_DSYNC, 0)
			_, _ = f.WriteString("NNN")
		},
		on{DiskExt4: {"d/  f=o*3", "d/  f=N*3"}, DiskXfs: {"d/  f=o*3"}, DiskBtrfs: {"d/  f=o*3"}},
		on{},
	},
	"create, O_DSYNC, not ended": {
		func(p *Proc) {
			_ = p.WriteFile("/d/x", nil, 0o644)
			f, _ := p.OpenFile("/t", os.O_CREATE|os.O_WRONLY|O_DSYNC, 0o644)
			_, _ = f.WriteString("NN")
		},
		on{DiskBtrfs: {"d/  f=o*3 t=N*2", "d/ x= f=o*3 t=N*2", "d/  f=o*3"}},
		on{DiskExt4: {"d/  f=o*3 t=N*2"}},
	},
	"create, create and fdatasync": {
		func(p *Proc) {
			_ = p.WriteFile("/d/x", nil, 0o644)
			_ = p.WriteFile("/t", []byte("NN"), 0o644)
			datasyncs(p, "/t")
		},
		on{DiskBtrfs: {"d/  f=o*3 t=N*2", "d/ x= f=o*3 t=N*2", "d/  f=o*3"}},
		on{DiskExt4: {"d/  f=o*3 t=N*2"}},
	},
	"mkdir, unlink and fdatasync": {
		func(p *Proc) {
			_ = p.Mkdir("/d/x", 0o755)
			f, _ := p.Open("/f")
			_ = p.Unlink("/f")
			_ = p.Do(Op{Call: CallFsync, FD: f.Fd(), Flags: SyncData})
		},
		on{DiskBtrfs: {"d/", "d/ x/", "d/  f=o*3"}},
		on{},
	},
	"mkdir, rename, create and fsync": {
		func(p *Proc) {
			_ = p.Mkdir("/d/x", 0o755)
			_ = p.Rename("/f", "/d/f")
			_ = p.WriteFile("/f", nil, 0o644)
			fsyncs(p, "/f")
		},
		on{DiskBtrfs: {"d/ f=o*3 f=", "d/ f=o*3 x/ f="}},
		on{},
	},
	"overwrite, ftruncate": {
		func(p *Proc) {
			f, _ := p.OpenFile("/f", os.O_WRONLY, 0)
			_, _ = f.WriteString("NN")
			_ = f.Truncate(4)
			_ = f.Truncate(1)
		},
		on{DiskBtrfs: {"d/  f=o*3", "d/  f=NNo", "d/  f=NNo0", "d/  f=o*30", "d/  f=o", "d/  f=N"}},
		on{DiskBtrfs: {"d/  f=NN"}},
	},
	"O_SYNC": {
		func(p *Proc) {
			f, _ := p.OpenFile("/t", os.O_CREATE|os.O_WRONLY|os.O_SYNC, 0o644)
			_, _ = f.WriteString("NN")
			_ = f.Close()
		},
		on{
			DiskExt4:  {"d/  f=o*3 t=N*2"},
			DiskPosix: {"d/  f=o*3", "d/  f=o*3 t=N*2"},
		},
		on{
			DiskExt4:  {"d/  f=o*3"},
			DiskXfs:   {"d/  f=o*3"},
			DiskPosix: {"d/  f=o*3 t="},
		},
	},
}

// fsyncs opens a file and syncs it.
func fsyncs(p *Proc, path string) {
	f, _ := p.Open(path)
	_ = f.Sync()
	_ = f.Close()
}

// datasyncs opens a file or a directory and makes an fdatasync(2) of it.
func datasyncs(p *Proc, path string) {
	f, _ := p.Open(path)
	_ = p.Do(Op{Call: CallFsync, FD: f.Fd(), Flags: SyncData})
	_ = f.Close()
}

func atEnd(p *Proc, text string) {
	f, _ := p.OpenFile("/f", os.O_WRONLY|os.O_APPEND, 0)
	_, _ = f.WriteString(text)
	_ = f.Close()
}
