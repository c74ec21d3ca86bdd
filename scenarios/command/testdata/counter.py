n = int(open("n").read())
open("n", "w").write(f"{n + 1}\n")
