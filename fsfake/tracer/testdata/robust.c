// Robust mutexes in shared memory whose owner ends, in the way that the first argument says.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t *m;
static int held[2]; // a pipe

static const char *error(int e) {
	return e == 0 ? "ok" : e == EOWNERDEAD ? "EOWNERDEAD" : e == ENOTRECOVERABLE ? "ENOTRECOVERABLE" : strerror(e);
}

static void *lock(void *unused) {
	pthread_mutex_lock(m);
	return NULL;
}

static void *waiter(void *unused) {
	printf("waiter %s\n", error(pthread_mutex_lock(m)));
	return NULL;
}

static void *killed(void *unused) {
	lock(NULL);
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	usleep(50000);
	kill(getpid(), SIGKILL);
	return NULL;
}

static void *joiner(void *of) {
	pthread_join(*(pthread_t *)of, NULL);
	printf("joined\n");
	exit(4);
}

// child starts a process that takes both mutexes, and waits until it has them.
static pid_t child(void (*then)(void)) {
	pid_t pid = fork();
	if (pid == 0) {
		pthread_mutex_lock(m);
		pthread_mutex_lock(m + 1);
		execl("/missing", "missing", NULL);
		printf("unlock %s\n", error(pthread_mutex_unlock(m)));
		pthread_mutex_lock(m);
		write(held[1], "x", 1);
		then();
		_exit(0);
	}
	char c;
	read(held[0], &c, 1);
	return pid;
}

static void nothing(void) {}
static void stay(void) { pause(); }
static void nap(void) { usleep(100000); }

static void execute(void) { execlp("sleep", "sleep", "0.3", NULL); }

int main(int argc, char **argv) {
	const char *how = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	close(open("made", O_CREAT | O_WRONLY, 0644));
	int fd = memfd_create("locks", 0);
	ftruncate(fd, 4096);
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	pthread_mutex_init(m + 1, &a);
	pipe(held);
	pthread_t t, self = pthread_self();
	if (!strcmp(how, "exit")) {
		child(nothing);
		wait(NULL);
	} else if (!strcmp(how, "kill")) {
		kill(child(stay), SIGKILL);
	} else if (!strcmp(how, "wait")) { // while somebody waits
		child(nap);
		pthread_create(&t, NULL, waiter, NULL);
		pthread_join(t, NULL);
		return 0;
	} else if (!strcmp(how, "thread")) {
		pthread_create(&t, NULL, lock, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(how, "killed thread")) { // and one of the same process that waits
		if (fork() == 0) {
			pthread_create(&t, NULL, killed, NULL);
			pause();
		}
		wait(NULL);
	} else if (!strcmp(how, "exec")) {
		child(execute);
	} else if (!strcmp(how, "parent")) { // a child waits
		lock(NULL);
		if (fork() == 0) {
			waiter(NULL);
			_exit(0);
		}
		usleep(100000);
		return 0;
	} else if (!strcmp(how, "first")) { // the first thread ends, and has a mutex
		lock(NULL);
		pthread_create(&t, NULL, waiter, NULL);
		usleep(50000);
		pthread_exit(NULL);
	} else if (!strcmp(how, "join")) { // the first thread is waited for
		pthread_create(&t, NULL, joiner, &self);
		pthread_exit(NULL);
	}
	int first = pthread_mutex_lock(m);
	printf("%s %s\n", error(first), error(pthread_mutex_lock(m + 1)));
	if (first == EOWNERDEAD)
		pthread_mutex_consistent(m);
	pthread_mutex_unlock(m);
	pthread_mutex_unlock(m + 1);
	printf("%s %s\n", error(pthread_mutex_lock(m)), error(pthread_mutex_lock(m + 1)));
	return 0;
}
