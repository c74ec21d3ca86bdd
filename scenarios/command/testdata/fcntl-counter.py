import fcntl
lock = open("lock", "a")
fcntl.lockf(lock, fcntl.LOCK_EX)
n = int(open("n").read())
open("n", "w").write(f"{n + 1}\n")
