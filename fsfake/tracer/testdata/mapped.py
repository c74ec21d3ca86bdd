# Shared mappings that cannot be written to show what is written through their description, in whatever process.
import mmap, os, sys


def shared(fd, size, offset=0):
    return mmap.mmap(fd, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ, offset=offset)


def show(*places):
    print(*(bytes(m[i:j]) for m, i, j in places))


fd = os.open("mapped", os.O_RDWR | os.O_CREAT, 0o600)
os.pwrite(fd, b"a" * 5000, 0)
os.ftruncate(fd, 9000)
m, n = shared(fd, 8192), shared(fd, 4096, 4096)
view = (m, 0, 1), (m, 4089, 4101), (m, 8190, 8192), (n, 0, 4), (n, 903, 905), (n, 4095, 4096)
show(*view)
os.pwrite(fd, b"B" * 10, 4090)
show(*view)
os.pwritev(fd, [b"C" * 3000, b"D"], 8000)
show(*view)
os.ftruncate(fd, 4200)
show((m, 0, 1), (m, 4094, 4201), (n, 0, 105))
os.ftruncate(fd, 12288)
show(*view)
os.posix_fallocate(fd, 0, 20000)
os.pwrite(fd, b"E", 30000)
show(*view)
if os.fork() == 0:
    os.pwrite(fd, b"child", 100)
    os._exit(0)
os.wait()
other = os.dup(fd)
os.pwrite(other, b"dup", 200)
os.close(other)
show((m, 98, 106), (m, 198, 204))
m.close()
n.close()
os.close(fd)
with open("mapped", "r+b") as f:  # nothing is mapped any more
    f.write(b"zz")
    f.flush()
    m = shared(f.fileno(), 10)
    os.close(os.dup(f.fileno()))
    os.pwrite(f.fileno(), b"y", 1)
    show((m, 0, 3))
