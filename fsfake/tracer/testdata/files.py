# Files by name and by descriptor.
import errno, fcntl, json, os, tempfile

def attempt(what, f, *a):
    try:
        print(what, f(*a))
    except OSError as e:
        print(what, errno.errorcode[e.errno])

with open("a", "w") as f:
    f.write("hello world\n")
attempt("rename", os.rename, "a", "b")
attempt("stat gone", os.stat, "a")
attempt("link", os.link, "b", "c")
attempt("symlink", os.symlink, "b", "s")
attempt("readlink", os.readlink, "s")
attempt("excl", os.open, "b", os.O_CREAT | os.O_EXCL)
print("nlink", os.stat("b").st_nlink, "same", os.path.samefile("b", "s"), os.path.islink("s"))
with open("b", "r+") as f:
    f.seek(6)
    f.write("there")
    f.truncate()
    f.flush()
    os.fsync(f.fileno())
print(open("c").read())
fd = os.open("b", os.O_RDWR)
print(os.pread(fd, 5, 2), os.pwrite(fd, b"HE", 0), os.lseek(fd, 0, os.SEEK_END))
fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
other = os.open("b", os.O_RDWR)
attempt("second flock", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
copy = os.dup(fd)
os.close(fd)
attempt("still", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(copy)
attempt("free", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
attempt("lockf", fcntl.lockf, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(other)
os.mkdir("d", 0o700)
for n in "xyz":
    open("d/" + n, "w").close()
print(sorted(os.listdir("d")), sorted(e.name for e in os.scandir("d")))
attempt("rmdir", os.rmdir, "d")
attempt("rmdir file", os.rmdir, "b")
attempt("unlink dir", os.unlink, "d")
os.chmod("b", 0o640)
print(oct(os.stat("b").st_mode))
os.utime("b", (1, 2))
print(os.stat("b").st_mtime)
fd, name = tempfile.mkstemp(dir=".")
os.write(fd, b"temp")
os.close(fd)
os.replace(name, "kept")
json.dump({"n": 1}, open("store.json", "w"))
print(json.load(open("store.json")))
