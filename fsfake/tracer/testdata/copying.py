# sendfile(2) and copy_file_range(2), which read and write without the program's memory.
import errno, os

def tries(f, *a, **k):
    try:
        return f(*a, **k)
    except OSError as e:
        return errno.errorcode[e.errno]

def at(fd):
    return os.lseek(fd, 0, os.SEEK_CUR)

R, W, RW = os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_CREAT
with open("a", "wb") as f:
    f.write(b'0123456789abcdef' * 10000)

# Whole files, larger than a pipe; the offsets of both move.
a, b, c = os.open("a", R), os.open("b", W, 0o644), os.open("c", RW, 0o644)
print(os.sendfile(b, a, None, 1 << 30), at(a), at(b), os.sendfile(b, a, None, 1))
os.lseek(a, 0, 0)
print(os.copy_file_range(a, c, 1 << 30), at(a), at(c), os.copy_file_range(a, c, 1))
print(open("a", "rb").read() == open("b", "rb").read() == open("c", "rb").read())

# A part, from an offset in memory: that of the description stays.
d = os.open("d", RW, 0o644)
print(os.sendfile(d, a, 5, 7), at(a), at(d), os.sendfile(d, a, 160000, 7), os.sendfile(d, a, 0, 0))
print(os.copy_file_range(a, d, 3, 1, 20), at(a), at(d), os.pread(d, 50, 0))
os.lseek(a, 160000 - 2, 0)
print(os.copy_file_range(a, d, 100), at(a), at(d))

# What cannot be copied.
e = os.open("e", W | os.O_APPEND, 0o644)
p, here = os.open("a", os.O_PATH), os.open(".", R)
for copy in (lambda to, of: os.sendfile(to, of, None, 4), lambda to, of: os.copy_file_range(of, to, 4)):
    print(tries(copy, e, a), tries(copy, d, b), tries(copy, a, d), tries(copy, d, p), tries(copy, p, d), tries(copy, d, here), tries(copy, 99, a))
print(tries(os.copy_file_range, d, d, 4, 0, 1), tries(os.sendfile, d, a, -1, 4), os.stat("d").st_size, os.stat("e").st_size)
