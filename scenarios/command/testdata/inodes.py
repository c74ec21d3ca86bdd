# A file has one inode number, whoever asks and however: stat, a listing, a descriptor, /proc, another program.
import os, subprocess, sys
os.mkdir("sub")
open("sub/x", "w").close()
os.rename("sub/x", "sub/y")
fd = os.open("sub/y", os.O_RDONLY)
one = {e.inode() for e in os.scandir("sub")} | {
    os.stat("sub/y").st_ino, os.fstat(fd).st_ino, os.stat("/proc/self/fd/%d" % fd).st_ino,
    int(subprocess.check_output(["ls", "-i", "sub"]).split()[0])}
here = {e.inode() for e in os.scandir(".") if e.name == "sub"} | {os.stat("sub").st_ino}
dots = [int(l.split()[0]) for l in subprocess.check_output(["ls", "-ai", "sub"]).splitlines()[:2]]
above = subprocess.check_output(["ls", "-ai"]).splitlines()[1].split()[0]
ok = len(one) == len(here) == 1 and dots == [os.stat("sub").st_ino, os.stat(".").st_ino]
sys.exit(not (ok and int(above) == os.stat("..").st_ino))
