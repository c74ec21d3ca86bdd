# Counts in a file that it maps, with pwrite, under a lock of the kind that it is given.
import fcntl, mmap, os, sys

fd = os.open("n", os.O_RDWR)
if sys.argv[1] != "0":
    fcntl.flock(fd, int(sys.argv[1]))
m = mmap.mmap(fd, 1, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
os.pwrite(fd, b"%d" % (int(m[:]) + 1), 0)
os.pwrite(fd, b"%d" % (int(m[:]) + 1), 0)
m.close()
os.close(fd)
