//go:build linux

package fsfake_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A device is a block device that logs every write and every flush. It is the only file of a FUSE file system, under
// a loop device with direct I/O. A process of its own serves the file: a test that waits for a write cannot answer it.
// The loop driver announces no FUA, so a forced write comes as a write and a flush. Everything comes undone when the
// mount namespace of the test does: the loop device clears itself with its last mount, and the server ends with the
// last user of its file.
type device struct {
	file   string
	log    *os.File
	server *exec.Cmd
}

// servesDevice makes a process the server of a device.
const servesDevice = "LOCKPICK_SERVES_DEVICE"

// An event is one of the log: a write with its data, a flush, or a mark of the test.
type event struct {
	kind byte // 'W', 'F' or 'M'
	at   int64
	data []byte
}

// newDevice makes a device of an image, with its file and its log in a directory.
func newDevice(image, dir string) (*device, error) {
	d := &device{file: dir + "/device"}
	if err := os.WriteFile(d.file, nil, 0o600); err != nil {
		return nil, err
	}
	var err error
	if d.log, err = os.OpenFile(dir+"/log", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	disk, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer fuse.Close()
	options := fmt.Sprintf("fd=%d,rootmode=100000,user_id=0,group_id=0", fuse.Fd())
	if err := mountHere("device", d.file, "fuse", 0, options); err != nil {
		return nil, fmt.Errorf("mounting a file over FUSE: %w", err)
	}
	d.server = exec.Command("/proc/self/exe")
	d.server.Env = append(os.Environ(), servesDevice+"=1")
	d.server.ExtraFiles = []*os.File{fuse, disk, d.log}
	d.server.Stderr = os.Stderr
	if err := d.server.Start(); err != nil {
		return nil, errors.Join(err, unix.Unmount(d.file, unix.MNT_DETACH))
	}
	return d, nil
}

// close ends a device whose file system is mounted no more, and returns its log.
func (d *device) close() ([]event, error) {
	if err := again(func() error { return unix.Unmount(d.file, 0) }); err != nil {
		return nil, errors.Join(err, unix.Unmount(d.file, unix.MNT_DETACH), d.server.Process.Kill())
	}
	if err := d.server.Wait(); err != nil {
		return nil, fmt.Errorf("the server of the device: %w", err)
	}
	text, err := os.ReadFile(d.log.Name())
	var log []event
	for len(text) > 0 {
		n := binary.LittleEndian.Uint32(text[9:])
		log = append(log, event{text[0], int64(binary.LittleEndian.Uint64(text[1:])), text[13 : 13+n]})
		text = text[13+n:]
	}
	return log, errors.Join(err, d.log.Close())
}

// mark writes a word into the log.
func (d *device) mark(word string) error {
	return logEvent(d.log, event{kind: 'M', data: []byte(word)})
}

func logEvent(log *os.File, e event) error {
	b := binary.LittleEndian.AppendUint64([]byte{e.kind}, uint64(e.at))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.data)))
	_, err := log.Write(append(b, e.data...))
	return err
}

// again does what the kernel may refuse for some milliseconds, because something is still closed there, or because two
// btrfs of one identity are mounted.
func again(do func() error) (err error) {
	for range 200 {
		if err = do(); err != unix.EBUSY && err != unix.EEXIST {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}

// mountLoop mounts a file on a directory, over a loop device that goes with the mount.
func mountLoop(file, dir, kind, options string, direct bool) error {
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/loop-control: %w", err)
	}
	defer unix.Close(control)
	under, err := unix.Open(file, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(under)
	config := &unix.LoopConfig{Fd: uint32(under), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
	if direct {
		config.Info.Flags |= unix.LO_FLAGS_DIRECT_IO
	}
	return again(func() error { // somebody else may take the device that is free
		n, err := unix.IoctlRetInt(control, unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return fmt.Errorf("a free loop device: %w", err)
		}
		name := fmt.Sprintf("/dev/loop%d", n)
		loop, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer unix.Close(loop)
		if err := unix.IoctlLoopConfigure(loop, config); err != nil {
			return err
		}
		return mountHere(name, dir, kind, 0, options)
	})
}

// serveDevice answers what FUSE asks about the file, in the order in which it is asked, until nobody uses it.
func serveDevice() error {
	const fuse = 3
	disk, log := os.NewFile(4, "disk"), os.NewFile(5, "log")
	info, err := disk.Stat()
	if err != nil {
		return err
	}
	request := make([]byte, 2<<20)
	for {
		n, err := unix.Read(fuse, request)
		switch err {
		case nil:
		case unix.EINTR, unix.ENOENT, unix.EAGAIN:
			continue
		case unix.ENODEV:
			return nil
		default:
			return err
		}
		answer, refused, err := served(request[:n], info.Size(), disk, log)
		if err != nil {
			return err
		}
		if answer == nil && refused == 0 {
			continue
		}
		out := binary.LittleEndian.AppendUint32(nil, uint32(16+len(answer)))
		out = binary.LittleEndian.AppendUint32(out, uint32(-int32(refused)))
		out = append(append(out, request[8:16]...), answer...)
		if _, err := unix.Write(fuse, out); err != nil && err != unix.ENOENT {
			return err
		}
	}
}

// What FUSE asks, as linux/fuse.h has it. The protocol is 7.31.
const (
	fuseForget, fuseGetattr, fuseSetattr, fuseOpen, fuseRead = 2, 3, 4, 14, 15
	fuseWrite, fuseStatfs, fuseRelease, fuseFsync            = 16, 17, 18, 20
	fuseFlush, fuseInit, fuseInterrupt, fuseForgets          = 25, 26, 36, 42
)

// served is the answer to a request, or the error that is; neither where none is wanted.
func served(request []byte, size int64, disk, log *os.File) ([]byte, unix.Errno, error) {
	le, body := binary.LittleEndian, request[40:]
	switch le.Uint32(request[4:]) {
	case fuseInit:
		out := make([]byte, 64)
		le.PutUint32(out, 7)
		le.PutUint32(out[4:], 31)
		copy(out[8:12], body[8:12])          // max_readahead
		le.PutUint32(out[12:], 1<<5|1<<22)   // BIG_WRITES, MAX_PAGES
		le.PutUint32(out[16:], 48<<16|64)    // max_background
		le.PutUint32(out[20:], 1<<20)        // max_write
		le.PutUint32(out[24:], 1)            // time_gran
		le.PutUint16(out[28:], (1<<20)/4096) // max_pages
		return out, 0, nil
	case fuseGetattr, fuseSetattr:
		out := make([]byte, 104)
		le.PutUint64(out, 1000) // seconds for which it is valid
		for i, v := range []uint64{1, uint64(size), uint64(size) / 512} {
			le.PutUint64(out[16+8*i:], v)
		}
		le.PutUint32(out[76:], 0o100600)
		le.PutUint32(out[80:], 1)
		le.PutUint32(out[96:], 4096)
		return out, 0, nil
	case fuseOpen:
		return append(le.AppendUint64(nil, 1), 1, 0, 0, 0, 0, 0, 0, 0), 0, nil // FOPEN_DIRECT_IO
	case fuseRead:
		out := make([]byte, le.Uint32(body[16:]))
		n, _ := disk.ReadAt(out, int64(le.Uint64(body[8:])))
		return out[:n], 0, nil
	case fuseWrite:
		e := event{'W', int64(le.Uint64(body[8:])), body[40 : 40+le.Uint32(body[16:])]}
		if _, err := disk.WriteAt(e.data, e.at); err != nil {
			return nil, 0, err
		}
		return le.AppendUint64(nil, uint64(len(e.data))), 0, logEvent(log, e)
	case fuseFsync:
		return []byte{}, 0, logEvent(log, event{kind: 'F'})
	case fuseStatfs:
		return make([]byte, 80), 0, nil
	case fuseRelease, fuseFlush:
		return []byte{}, 0, nil
	case fuseForget, fuseInterrupt, fuseForgets:
		return nil, 0, nil
	}
	return nil, unix.ENOSYS, nil
}

// ioctl makes an ioctl(2) that reads or writes eight bytes.
func ioctl(fd int, what uintptr, eight []byte) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), what, uintptr(unsafe.Pointer(&eight[0]))); e != 0 {
		return e
	}
	return nil
}
