// Each line that makes calls names them.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int taken(void) {
	struct stat st;
	return !stat("lock", &st); // makes: stat
}

static void acquire(void) {
	if (taken()) return;
	int fd = open("lock", O_CREAT | O_WRONLY, 0644); // makes: open
	dprintf(fd, "%d\n", getpid()); // makes: fstat lseek write
	close(fd); // makes: close
}

__attribute__((noinline)) int deeper(int n, const char *name) {
	char text[64];
	snprintf(text, sizeof text, "%s%d", name, n);
	if (n > 0) return deeper(n - 1, text) + 1;
	return mkdir(text, 0755); // makes: mkdir
}

int main(void) {
	acquire();
	FILE *f = fopen("lock", "r"); // makes: open
	char text[64];
	fgets(text, sizeof text, f); // makes: fstat read
	fclose(f); // makes: close
	deeper(5, "d");
	unlink("lock"); // makes: unlink
	return 0;
}
