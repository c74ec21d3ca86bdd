import os, time
while True:
    try:
        os.close(os.open("app.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        break
    except FileExistsError:
        time.sleep(0.05)
os.mkdir("cs")
os.rmdir("cs")
os.unlink("app.lock")
