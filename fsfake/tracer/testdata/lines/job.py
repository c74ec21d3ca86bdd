import fcntl, json, os, subprocess, threading  # makes: stat open fstat readdir close

def load(path):
    with open(path) as f:  # makes: open fstat lseek read close
        return json.load(f)  # makes: fstat lseek read

def both(f):
    return f("n") + os.stat("n").st_nlink  # makes: stat

with open("n", "w") as f:  # makes: open fstat lseek write close
    f.write("1")
with open("lock", "a") as lock:  # makes: open fstat lseek close
    fcntl.flock(lock, fcntl.LOCK_EX)  # makes: flock
    n = both(load)
def other():
    os.mkdir("d")  # makes: mkdir
t = threading.Thread(target=other)
t.start(); t.join()
subprocess.run(["rmdir", "d"])  # makes: rmdir fork exec exit wait
os.rename("n", "m")  # makes: rename
