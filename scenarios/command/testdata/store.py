# store.py KEY [LOCK]: adds a key to store.json, by a temporary file and a rename.
import fcntl, json, os, sys
key = sys.argv[1]
if len(sys.argv) > 2:
    lock = open(sys.argv[2], "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
with open("store.json") as f:
    data = json.load(f)
data[key] = 1
temp = "store.json." + key
with open(temp, "w") as f:
    json.dump(data, f, sort_keys=True)
os.rename(temp, "store.json")
