# sync.py [fixed]: appends the entries that the cursor has not seen, and saves the cursor, under a
# lock file: as github.com/ActiveMemory/ctx/issues/93 reports it, or made with O_EXCL.
import os, sys

if sys.argv[1:] == ["fixed"]:
    try:
        os.close(os.open("lock", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        sys.exit(75)
else:
    if os.path.exists("lock"):
        sys.exit(75)
    os.close(os.open("lock", os.O_CREAT))
cursor = os.open("cursor", os.O_RDWR)
if int(os.read(cursor, 9)) < 1:
    log = os.open("log", os.O_WRONLY | os.O_APPEND)
    os.write(log, b"entry 1\n")
    os.pwrite(cursor, b"1\n", 0)
os.unlink("lock")
