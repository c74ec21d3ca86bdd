# Calls that few programs make: linkat(2) that follows, lseek(2) to data, preadv2(2), openat2(2), renameat2(2), O_TMPFILE, and
# mmap(2) of what cannot be read.
import ctypes, errno, mmap, os

libc = ctypes.CDLL(None, use_errno=True)
CWD = -100

def tries(f, *a, **k):
    try:
        return f(*a, **k)
    except OSError as e:
        return errno.errorcode[e.errno]

def call(nr, *args):
    n = libc.syscall(nr, *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return n if n >= 0 else errno.errorcode[ctypes.get_errno()]

f = os.open("f", os.O_RDWR | os.O_CREAT, 0o644)
os.write(f, b"some text\n")
os.symlink("f", "s")
print(tries(os.link, "s", "follows", follow_symlinks=True), tries(os.link, "s", "itself", follow_symlinks=False))
print(call(265, CWD, b"s", CWD, b"again", 0x400), call(265, CWD, b"no", CWD, b"x", 0x400), call(265, CWD, b"s", CWD, b"x", 0x10))
print(os.path.islink("follows"), os.path.islink("itself"), os.stat("f").st_nlink)

print(os.lseek(f, 2, os.SEEK_DATA), os.lseek(f, 2, os.SEEK_HOLE), tries(os.lseek, f, 10, os.SEEK_DATA), tries(os.lseek, f, -1, os.SEEK_HOLE))

b = bytearray(4)
print(os.pwritev(f, [b"SO", b"ME"], 0, 0), os.preadv(f, [b], 0, 0), bytes(b))

how = (ctypes.c_ulonglong * 3)(os.O_RDWR | os.O_CREAT, 0o640, 0)
fd = call(437, CWD, b"opened", how, 24)
print(type(fd), oct(os.stat("opened").st_mode), call(437, CWD, b"no/such", how, 24))

os.mkdir("d")
print(call(316, CWD, b"f", CWD, b"d", 2), os.path.isdir("f"), call(316, CWD, b"f", CWD, b"no", 2), call(316, CWD, b"d", CWD, b"s", 1))

t = os.open("f", os.O_TMPFILE | os.O_RDWR, 0o600)
print(os.write(t, b"tmp"), os.fstat(t).st_nlink, os.listdir("f"))

libc.mmap.restype = ctypes.c_long
def maps(fd, prot=1, flags=2, size=4096):
    n = libc.mmap(None, ctypes.c_size_t(size), prot, flags, fd, ctypes.c_long(0))
    return "mapped" if n != -1 else errno.errorcode[ctypes.get_errno()]
w, p, here = os.open("d", os.O_WRONLY), os.open("d", os.O_PATH), os.open(".", os.O_RDONLY)
print(maps(w), maps(p), maps(here), maps(f), maps(os.open("d", os.O_RDONLY), 3), maps(w, size=0))
