# Working directories and open directories that are renamed and removed.
import errno, os

def tries(f, *a, **k):
    try:
        return f(*a, **k)
    except OSError as e:
        return errno.errorcode[e.errno]

def here():
    name = tries(os.getcwd)
    return name if name.startswith("E") else os.path.basename(name)

top = os.open(".", os.O_RDONLY)
os.mkdir("d")
d = os.open("d", os.O_RDONLY | os.O_DIRECTORY)
os.close(os.open("x", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=d))
os.rename("d", "e")
os.mkdir("d")
os.rename("x", "y", src_dir_fd=d, dst_dir_fd=d)
print(sorted(os.listdir("e")), os.listdir("d"), sorted(os.listdir(d)))
os.symlink("y", "s", dir_fd=d)
print(os.readlink("s", dir_fd=d), os.stat("s", dir_fd=d).st_size, tries(os.stat, "x", dir_fd=d), tries(os.stat, "x", dir_fd=77))
os.link("y", "z", src_dir_fd=d, dst_dir_fd=top, follow_symlinks=False)
os.rename("z", "z", src_dir_fd=top, dst_dir_fd=d)
print(sorted(os.listdir("e")), os.path.basename(os.path.dirname(os.readlink("e/s", dir_fd=top) and "e/s")))

os.fchdir(d)
print(here(), sorted(os.listdir(".")), sorted(os.listdir("..")))
os.rename("../e", "../d/f")
print(here(), sorted(os.listdir("../..")), os.path.exists("../f/y"), tries(os.rmdir, "."))
os.chdir("..")
print(here())
os.chdir("f")
pid = os.fork()
if pid == 0:
    os.chdir("../..")
    for n in "ysz":
        os.unlink(n, dir_fd=d)
    os.rmdir("d/f")
    os._exit(0)
os.waitpid(pid, 0)
print(here(), tries(os.listdir, "."), tries(os.open, "new", os.O_CREAT | os.O_WRONLY), tries(os.mkdir, "new"), sorted(os.listdir("..")))
print(tries(os.stat, "x", dir_fd=d), tries(os.mkdir, "x", dir_fd=d), os.fstat(d).st_nlink, os.stat(".").st_nlink)
print(tries(os.chdir, "."), here(), tries(os.chdir, ".."), here(), tries(os.chdir, "nowhere"))
print(tries(os.chdir, top), here() != "d", tries(os.rmdir, "d"), os.listdir("."))
