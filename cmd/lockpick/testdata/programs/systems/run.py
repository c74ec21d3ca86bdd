# run.py [fixed]: flock on a file that also tells the holder's pid. Who finds it taken and its
# holder dead unlinks it and starts over, as github.com/dotdevdotdev/agentwire-dev/issues/491
# reports it; fixed, nobody unlinks it.
import fcntl, os, sys, time

lock = os.open("main.lock", os.O_RDWR | os.O_CREAT)
while True:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        break
    except BlockingIOError:
        pass
    if len(sys.argv) == 1:
        try:
            os.kill(int(os.pread(lock, 9, 0) or b"0"), 0)
        except ProcessLookupError:
            os.unlink("main.lock")
            os.close(lock)
            lock = os.open("main.lock", os.O_RDWR | os.O_CREAT)
            continue
    time.sleep(0.5)
os.ftruncate(lock, 0)
os.pwrite(lock, b"%d\n" % os.getpid(), 0)
os.mkdir("cs")
os.rmdir("cs")
