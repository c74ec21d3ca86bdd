import os
with open("page.tmp", "w") as f:
    f.write("text\n")
os.rename("page.tmp", "page")
