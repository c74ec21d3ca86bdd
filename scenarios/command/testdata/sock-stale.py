import socket,sys,os
def lock():
    s=socket.socket(socket.AF_UNIX)
    try: s.bind("lock")
    except OSError:
        c=socket.socket(socket.AF_UNIX)
        try:
            c.connect("lock"); c.close(); sys.exit(1)
        except ConnectionRefusedError: os.unlink("lock")
        except FileNotFoundError: pass
        s.bind("lock")
    s.listen(1)
    return s
s=lock()
n=int(open("n").read()); open("n","w").write(str(n+1))
os.unlink("lock")
