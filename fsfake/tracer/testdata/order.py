# Which error comes first: of a rename or link to another file system, and of openat2.
import ctypes, errno, os

libc = ctypes.CDLL(None, use_errno=True)
HERE, RENAMEAT2, LINKAT, OPENAT2 = -100, 316, 265, 437
THERE, TAKEN = b"/proc/zz", b"/proc/version"


def call(name, nr, *args):
    ctypes.set_errno(0)
    r = libc.syscall(nr, *args)
    print(name, errno.errorcode[ctypes.get_errno()] if r < 0 else "ok")
    return r


def how(name, path, flags=0, mode=0, resolve=0, size=24, last=0, at=HERE):
    words = [flags, mode, resolve] + [0] * 700
    words[3] = last
    fd = call("openat2 " + name, OPENAT2, at, path, (ctypes.c_uint64 * len(words))(*words), ctypes.c_size_t(size))
    if fd >= 0:
        os.close(fd)


os.mkdir("d")
open("f", "w").close()
for nr, what in (RENAMEAT2, "rename"), (LINKAT, "link"):
    for old in b"f", b"f/", b".", b"d", b"missing", b"d/missing", b"missing/x", b"f/x", b"":
        # the last is for names that lead somewhere: of two errors either may come first; /proc takes no new links
        for new in (THERE, TAKEN, b"")[nr == LINKAT:2 if b"f/" in old else 3]:
            call("%s %r %r" % (what, old, new), nr, HERE, old, HERE, new, 0)
    call(what + " of a bad descriptor", nr, 99, b"f", HERE, THERE, 0)
    call(what + " to a bad descriptor", nr, HERE, b"f", 99, b"g", 0)
    call(what + " with bad flags", nr, HERE, b"f", HERE, THERE, 1 << 9)

for size in 0, 16, 23, 24, 32, 4096, 4097:
    how("of %d bytes" % size, b"f", size=size)
how("with more than is known", b"f", size=32, last=1)
how("with more than is read", b"f", size=24, last=1)
how("with a bad flag", b"f", flags=1 << 40)
how("with a mode for nothing", b"f", mode=0o600)
how("with a bad mode", b"g", flags=os.O_CREAT, mode=0o200000)
how("with a mode", b"g", flags=os.O_CREAT, mode=0o600)
how("bad resolution", b"f", resolve=1 << 20)
how("two roots", b"f", resolve=24)
how("for its path, made", b"f", flags=os.O_PATH | os.O_CREAT)
how("for its path", b"f", flags=os.O_PATH | os.O_CLOEXEC)
how("without a name", b"")
how("without a name, with a bad flag", b"", flags=1 << 40)
how("of a bad descriptor", b"f", at=99)
how("of nothing", b"missing")
