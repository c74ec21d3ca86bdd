# Descriptors: duplicates, close-on-exec, status flags, O_PATH.
import errno, fcntl, os, subprocess, sys

def name(n):
    return errno.errorcode[n] if n else "ok"

def tries(f, *a):
    try:
        return f(*a)
    except OSError as e:
        return name(e.errno)

# dup2 onto a file closes that one in the same step, and drops its record locks.
a = os.open("a", os.O_RDWR | os.O_CREAT, 0o666)
b = os.open("b", os.O_RDWR | os.O_CREAT, 0o666)
os.write(a, b"from a\n")
fcntl.lockf(b, fcntl.LOCK_EX)
print(os.dup2(a, b), os.lseek(b, 0, os.SEEK_CUR), os.fstat(a).st_ino == os.fstat(b).st_ino)
print(tries(os.dup2, 77, a), tries(os.dup2, 77, 1), os.fstat(a).st_size)
os.dup2(a, 50)
os.dup2(1, 50)
print(os.fstat(50).st_size == os.fstat(1).st_size)

# Close-on-exec, set and cleared by every call there is for it.
keep = os.open("keep", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
os.set_inheritable(keep, True)
shut = os.open("shut", os.O_RDWR | os.O_CREAT, 0o666)
os.set_inheritable(shut, True)
os.set_inheritable(shut, False)
high = fcntl.fcntl(keep, fcntl.F_DUPFD_CLOEXEC, 30)
print(high, fcntl.fcntl(high, fcntl.F_GETFD), fcntl.fcntl(keep, fcntl.F_GETFD))
fcntl.flock(keep, fcntl.LOCK_EX)
fcntl.flock(shut, fcntl.LOCK_EX)
pid = os.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", f"echo through >&{keep}; (echo no >&{shut}) 2>/dev/null || echo shut; (echo no >&{high}) 2>/dev/null || echo high"])
print(os.waitpid(pid, 0)[1])
sys.stdout.flush()
os.close(keep)
print(open("keep").read())

# Status flags belong to the description.
f = os.open("f", os.O_RDWR | os.O_CREAT, 0o666)
g = os.dup(f)
def flags(fd):
    return oct(fcntl.fcntl(fd, fcntl.F_GETFL))
print(flags(f), flags(g))
os.write(f, b"one\n")
fcntl.fcntl(g, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK | os.O_TRUNC)
os.lseek(f, 0, os.SEEK_SET)
os.write(f, b"two\n")
print(flags(f), flags(g), open("f").read())
fcntl.fcntl(f, fcntl.F_SETFL, 0)
print(flags(g))

# O_PATH says where, and nothing more.
p = os.open("f", os.O_PATH)
print(os.fstat(p).st_size, tries(os.read, p, 1), tries(os.fchmod, p, 0o600), flags(p))
d = os.open(".", os.O_PATH | os.O_DIRECTORY)
print(tries(os.listdir, d), os.stat("f", dir_fd=d).st_size, tries(os.open, "missing", os.O_RDONLY, 0o600))
print(tries(os.open, "f", os.O_PATH | os.O_DIRECTORY))

# Modes and owners by descriptor, and of a symlink itself.
os.fchmod(f, 0o640)
os.fchown(f, -1, -1)
os.chown("f", os.getuid(), -1)
os.symlink("f", "s")
os.lchown("s", -1, os.getgid())
os.chown("s", -1, -1, follow_symlinks=False)
print(oct(os.stat("s").st_mode), oct(os.lstat("s").st_mode))
