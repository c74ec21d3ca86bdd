# lockfile 0.12.2, LinkLockFile, with timeout 0: gives up when the time is past an end that it has computed
import os, sys, time

me = "u.%d" % os.getpid()
open(me, "w").close()
end = time.time()
while True:
    try:
        os.link(me, "lock")
        break
    except OSError:
        if os.stat(me).st_nlink == 2:
            break
        if time.time() > end:
            os.unlink(me)
            sys.exit(75)
        time.sleep(0.1)
n = int(open("n").read())
with open("n", "w") as f:
    f.write(str(n + 1))
os.unlink("lock")
os.unlink(me)
