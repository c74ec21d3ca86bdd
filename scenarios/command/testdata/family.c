// family inherit|own N: adds N to a number, in a child, under a lock that both have or that only the
// parent has. family leave N: leaves two children behind that make a directory each.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	if (!strcmp(argv[1], "leave")) {
		if (!fork()) return mkdir("a", 0777);
		if (!fork()) return mkdir("b", 0777);
		return 0;
	}
	int lock = open("lock", O_RDWR);
	if (flock(lock, LOCK_EX)) return 2;
	if (!fork()) {
		char text[16] = "";
		if (!strcmp(argv[1], "own")) close(lock);
		int f = open("n", O_RDWR);
		if (read(f, text, sizeof text - 1) < 0) return 2;
		int n = snprintf(text, sizeof text, "%d\n", atoi(text) + atoi(argv[2]));
		return pwrite(f, text, n, 0) != n;
	}
	wait(0);
	return 0;
}
