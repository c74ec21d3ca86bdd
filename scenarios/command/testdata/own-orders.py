# Two children leave f as whichever comes last has it; the first waits for a name. What the memory file holds is not
# known, so that their orders do not meet, and there are more than are followed.
import os, time
os.memfd_create("m")
for i in "12":
    if os.fork() == 0:
        while i == "1":
            try:
                os.mkdir("l")
                break
            except FileExistsError:
                time.sleep(1)
        for _ in range(6):
            os.stat("f")
        with open("f." + i, "w") as f:
            f.write(i)
        os.rename("f." + i, "f")
        if i == "1":
            os.rmdir("l")
        os._exit(0)
os.wait()
os.wait()
