import os, sys
if os.path.exists("app.lock"):
    sys.exit(1)
with open("app.lock", "w") as f:
    f.write(str(os.getpid()))
os.mkdir("cs")
os.rmdir("cs")
os.unlink("app.lock")
