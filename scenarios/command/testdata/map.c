// map NAME [shared]: maps a file of its own size under a lock, lets it go, and looks under the lock again whether the
// file has changed, without reading it anew. An empty file cannot be mapped.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
	struct stat s;
	int fd = open(argv[1], O_RDONLY);
	flock(fd, LOCK_SH);
	fstat(fd, &s);
	volatile char *text = mmap(0, s.st_size, PROT_READ, argc > 2 ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return errno == EINVAL && s.st_size == 0 ? 0 : 1;
	char first = *text;
	flock(fd, LOCK_UN);
	flock(fd, LOCK_SH);
	return *text != first;
}
