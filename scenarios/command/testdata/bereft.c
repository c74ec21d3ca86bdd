// bereft MODE: adds 1 to a number, in a child, under a lock that the parent has taken and waits with. Then the child
// looks whether its parent lives, in one of several ways. When it does not, the child waits for ever.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told;
static void tell(int sig) { told = sig; }

static void hang(void) {
	flock(open("n", O_RDWR), LOCK_EX);
	flock(open("n", O_RDWR), LOCK_EX);
}

static int is(const char *mode, const char *name) { return !strcmp(mode, name); }

int main(int argc, char **argv) {
	const char *m = argc > 1 ? argv[1] : "";
	int lock = open("lock", O_RDWR), parent = getpid(), to[2] = {-1, -1};
	char text[16] = "", name[64];
	if (flock(lock, LOCK_EX)) return 2;
	if (is(m, "record")) {
		struct flock l = {.l_type = F_WRLCK};
		if (fcntl(lock, F_SETLK, &l)) return 2;
	}
	if (is(m, "pipe") || is(m, "epipe")) if (pipe(to)) return 2;
	if (is(m, "socket")) if (socketpair(AF_UNIX, SOCK_STREAM, 0, to)) return 2;
	pthread_mutex_t *mutex = mmap(0, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (is(m, "robust")) {
		pthread_mutexattr_t a;
		pthread_mutexattr_init(&a);
		pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(mutex, &a);
		pthread_mutex_lock(mutex);
	} else munmap(mutex, sizeof *mutex);
	void *map = is(m, "map") ? mmap(0, 1, PROT_READ, MAP_SHARED, lock, 0) : 0;
	int child = fork();
	if (child) {
		if (is(m, "pipe") || is(m, "socket")) close(to[0]);
		if (is(m, "epipe")) close(to[1]);
		if (is(m, "pause")) {
			signal(SIGCHLD, tell);
			while (waitpid(-1, 0, WNOHANG) == 0) usleep(1000);
			return 0;
		}
		while (wait(0) < 0 && errno == EINTR);
		return 0;
	}
	if (map) munmap(map, 1);
	if (is(m, "signal")) {
		signal(SIGUSR1, tell);
		prctl(PR_SET_PDEATHSIG, SIGUSR1);
	}
	if (is(m, "pipe") || is(m, "socket")) close(to[1]);
	if (is(m, "epipe")) {
		close(to[0]);
		signal(SIGPIPE, SIG_IGN);
	}
	int fd = is(m, "pidfd") ? syscall(SYS_pidfd_open, parent, 0) : -1;
	int f = open("n", O_RDWR);
	if (read(f, text, sizeof text - 1) < 0) return 2;
	int n = snprintf(text, sizeof text, "%d\n", atoi(text) + 1);
	if (pwrite(f, text, n, 0) != n) return 2;
	if (map) close(lock); // which nobody maps when the parent is gone
	struct pollfd p = {.fd = to[0], .events = POLLIN};
	struct pollfd q = {.fd = fd, .events = POLLIN};
	struct flock l = {.l_type = F_WRLCK};
	snprintf(name, sizeof name, "/proc/%d/stat", parent);
	if (is(m, "getppid") && getppid() != parent) hang();
	if (is(m, "signal") && told) hang();
	if (is(m, "pipe") && poll(&p, 1, 0) == 1 && read(to[0], text, 1) == 0) hang();
	if (is(m, "socket") && poll(&p, 1, 0) == 1 && read(to[0], text, 1) == 0) hang();
	if (is(m, "epipe") && write(to[1], "x", 1) < 0) hang();
	if (is(m, "proc") && access(name, F_OK)) hang();
	if (is(m, "kill") && kill(parent, 0)) hang();
	if (is(m, "group") && getpgid(parent) < 0) hang();
	if (is(m, "nice") && (errno = 0, getpriority(PRIO_PROCESS, parent) < 0) && errno) hang();
	if (is(m, "pidfd") && poll(&q, 1, 0) == 1) hang();
	if (is(m, "robust") && pthread_mutex_trylock(mutex) == EOWNERDEAD) hang();
	if (is(m, "opens") && syscall(SYS_pidfd_open, parent, 0) < 0) hang();
	if (is(m, "record") && !fcntl(lock, F_SETLK, &l)) hang();
	if (is(m, "grandchild")) {
		int here = getpid();
		if (!fork()) {
			read(f, text, 1);
			if (getppid() != here) hang();
			return 0;
		}
		wait(0);
	}
	lseek(f, 0, SEEK_SET);
	read(f, text, sizeof text - 1);
	return 0;
}
