// A counter under a lock that the kernel drops when the process dies ("flock"), one that stays
// ("excl"), one that stays and is broken when it is old ("stale"), one that stays and is polled for by
// starting processes that sleep ("polls"), or none ("none").
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
	(void)argc;
	if (!strcmp(argv[1], "flock")) flock(open("lock", O_RDWR), LOCK_EX);
	if (!strcmp(argv[1], "excl"))
		if (open("lock", O_CREAT | O_EXCL | O_WRONLY, 0644) < 0) return 1;
	if (!strcmp(argv[1], "stale"))
		while (mkdir("lock", 0755)) {
			struct stat s;
			if (!stat("lock", &s) && time(0) - s.st_mtime > 10) rmdir("lock");
			else sleep(1);
		}
	if (!strcmp(argv[1], "polls"))
		while (mkdir("lock", 0755)) {
			if (!fork()) { sleep(1); _exit(0); }
			wait(0);
		}
	int n = 0, f = open("n", O_RDWR);
	char text[16] = "";
	read(f, text, sizeof text - 1);
	sscanf(text, "%d", &n);
	pwrite(f, text, snprintf(text, sizeof text, "%d\n", n + 1), 0);
	if (!strcmp(argv[1], "excl")) unlink("lock");
	if (!strcmp(argv[1], "stale") || !strcmp(argv[1], "polls")) rmdir("lock");
	return 0;
}
