# Whether processes live, by descriptors of them: one that lives, one that does not, and its own child.
import errno, os, select, signal, sys

def tries(f, *a):
    try:
        return f(*a) or "ok"
    except OSError as e:
        return errno.errorcode[e.errno]

def look(pid):
    fd = os.pidfd_open(pid)
    said = tries(signal.pidfd_send_signal, fd, 0), tries(os.waitid, os.P_PIDFD, fd, os.WEXITED)
    os.close(fd)
    return said

lives, gone = int(sys.argv[1]), int(sys.argv[2])
print(look(lives), tries(look, gone), tries(look, -1), tries(os.pidfd_open, lives, 1 << 20))
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
fd = os.pidfd_open(child)  # of a zombie
print(tries(signal.pidfd_send_signal, fd, 0), os.waitid(os.P_PIDFD, fd, os.WEXITED).si_status, tries(os.pidfd_open, child))
