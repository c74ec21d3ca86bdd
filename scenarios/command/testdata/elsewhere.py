# copies from a file outside of the directory, which no file system does for another one
import errno, os, sys
try:
    os.copy_file_range(os.open(sys.executable, os.O_RDONLY), os.open("m", os.O_CREAT | os.O_WRONLY), 9)
except OSError as e:
    sys.exit(e.errno != errno.EXDEV)
sys.exit(1)
