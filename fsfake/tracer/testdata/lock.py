# A lock that looks before it writes.
import os, sys
if os.path.exists("lock"):
    sys.exit(1)
with open("lock", "w") as f:
    f.write("me")
os.mkdir("cs")
os.rmdir("cs")
os.unlink("lock")
print("done")
