// family inherit|own N: adds N to a number, in a child, under a lock that both have or that only the
// parent has. family behind N: adds N in a child, without a lock, and does not wait for it. family leave N: leaves two children behind that make a directory each. family shared N: two children that
// share memory make N directories each. family locks|upgrades N: two children add N to the number, under a lock of their
// own, which upgrades share at first. family cross 0: two children take two locks in opposite orders. family looks 0:
// prints of two children that make a directory each whether the second has made its own, one has ended, and the first has
// made its own. family first 0: prints which of two such children it is told
// of first. family sees 0: two children lock the number, and one prints whether the other has made a directory before.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int add(int by, int f) {
	char text[16] = "";
	if (read(f, text, sizeof text - 1) < 0) return 2;
	int n = snprintf(text, sizeof text, "%d\n", atoi(text) + by);
	return pwrite(f, text, n, 0) != n;
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	if (!strcmp(argv[1], "leave")) {
		if (!fork()) return mkdir("a", 0777);
		if (!fork()) return mkdir("b", 0777);
		return 0;
	}
	if (!strcmp(argv[1], "shared")) {
		int *made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		char name[] = "a0";
		for (int child = 0; child < 2; child++, name[0]++)
			if (!fork()) {
				for (; name[1] < '0' + atoi(argv[2]); name[1]++) *made += !mkdir(name, 0777);
				return 0;
			}
		while (wait(0) > 0);
		return *made != 2 * atoi(argv[2]);
	}
	if (!strcmp(argv[1], "cross")) {
		for (int child = 0; child < 2; child++)
			if (!fork()) return flock(open(child ? "n" : "lock", O_RDWR), LOCK_EX) ||
				flock(open(child ? "lock" : "n", O_RDWR), LOCK_EX);
		while (wait(0) > 0);
		return 0;
	}
	if (!strcmp(argv[1], "locks") || !strcmp(argv[1], "upgrades")) {
		for (int child = 0; child < 2; child++)
			if (!fork()) {
				int f = open("n", O_RDWR);
				if (argv[1][0] == 'u' && flock(f, LOCK_SH)) return 1;
				return flock(f, LOCK_EX) || add(atoi(argv[2]), f) || flock(f, LOCK_UN);
			}
		while (wait(0) > 0);
		return 0;
	}
	if (!strcmp(argv[1], "sees")) {
		for (int child = 0; child < 2; child++)
			if (!fork()) {
				if (flock(open("n", O_RDWR), LOCK_EX)) return 1;
				if (child) return mkdir("a", 0777);
				if (!access("a", F_OK)) puts("a");
				return 0;
			}
		while (wait(0) > 0);
		return 0;
	}
	if (!strcmp(argv[1], "looks") || !strcmp(argv[1], "first")) {
		int first = fork();
		if (!first) return mkdir("b", 0777);
		int second = fork();
		if (!second) return mkdir("a", 0777);
		if (argv[1][0] == 'l') {
			int made = !access("a", F_OK), ended = waitpid(-1, 0, WNOHANG) > 0;
			printf("%d %d %d\n", made, ended, !access("b", F_OK));
		} else {
			mkdir("c", 0777);
			printf("%d\n", wait(0) == second);
		}
		while (wait(0) > 0);
		return 0;
	}
	if (!strcmp(argv[1], "order")) {
		for (int child = 1; child <= 3; child++)
			if (!fork()) return child;
		for (int status; wait(&status) > 0;) printf("%d", WEXITSTATUS(status));
		return 0;
	}
	if (!strcmp(argv[1], "ending")) { // which ends first, of two of which the second looks
		if (!fork()) return 1;
		if (!fork()) return access("n", F_OK) + 2;
		for (int status; wait(&status) > 0;) printf("%d", WEXITSTATUS(status));
		return 0;
	}
	if (!strcmp(argv[1], "peek")) {
		if (!fork()) return 0;
		if (!waitpid(-1, 0, WNOHANG)) mkdir(argv[2], 0777);
		while (wait(0) > 0);
		return 0;
	}
	if (!strcmp(argv[1], "behind")) return fork() ? 0 : add(atoi(argv[2]), open("n", O_RDWR));
	int lock = open("lock", O_RDWR);
	if (flock(lock, LOCK_EX)) return 2;
	if (!fork()) {
		if (!strcmp(argv[1], "own")) close(lock);
		return add(atoi(argv[2]), open("n", O_RDWR));
	}
	wait(0);
	return 0;
}
