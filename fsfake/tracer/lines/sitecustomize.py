# Tells which line of a script runs, by a write that is not made; see lines.go. It imports nothing that is not
# imported already, and leaves sys.path as it would be.
import os
import sys

_here = os.path.dirname(__file__)
sys.path[:] = [p for p in sys.path if p != _here]


def _hook():
    write, threads, libraries = os.write, [], tuple({os.path.dirname(os.__file__), sys.prefix + "/lib", "/usr/lib/python3"})
    left = [50000]
    absolute = {}

    def place(f):
        name = absolute.get(f.f_code.co_filename)
        if name is None:
            name = f.f_code.co_filename
            if name.startswith("<"):
                name = ""
            if name.startswith(libraries):
                name = ""
            absolute[f.f_code.co_filename] = name
        return name

    def tell(name, line, func):
        left[0] -= 1
        try:
            write(2, b"\x01lockpick line:%d:%s:%s" % (line, os.fsencode(func), os.fsencode(name)))
        except Exception:
            pass

    def lines(f, event, arg):
        if left[0] <= 0:
            return None
        if event != "return":
            tell(place(f), f.f_lineno, f.f_code.co_name)
        else:
            up = f.f_back
            while up is not None and not place(up):
                up = up.f_back
            tell("", 0, "") if up is None else tell(place(up), up.f_lineno, up.f_code.co_name)
        return lines

    def calls(f, event, arg):
        threading = sys.modules.get("threading")
        if not threads and hasattr(threading, "settrace"):
            threads.append(threading)
            threading.settrace(calls)
        return lines if left[0] > 0 and place(f) else None

    sys.settrace(calls)


_mine = sys.modules.pop("sitecustomize")
try:
    import sitecustomize
except ImportError:
    sys.modules["sitecustomize"] = _mine
if sys.version_info >= (3, 5):
    _hook()
