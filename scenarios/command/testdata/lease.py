# a lock that is stale after 2 s, and held for 4
import os, time

while True:
    try:
        os.mkdir("l")
        break
    except FileExistsError:
        try:
            if time.time() - os.stat("l").st_mtime > 2:
                os.rmdir("l")
                continue
        except FileNotFoundError:
            continue
        time.sleep(1)
n = int(open("n").read())
time.sleep(4)
with open("n", "w") as f:
    f.write(str(n + 1))
try:
    os.rmdir("l")
except FileNotFoundError:
    pass
