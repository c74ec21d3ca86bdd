// Who the kernel says it was: pids that it writes into the memory of a program, and reads there.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t self, child, parent;
static volatile siginfo_t came;

static const char *who(int pid) {
	return pid == self ? "self" : child && pid == child ? "child" : pid == parent ? "parent" : pid == -self ? "own group" : pid == 0 ? "none" : "other";
}

static void note(int sig, siginfo_t *i, void *unused) { came = *i; }

// await waits for the signal, which is blocked.
static void await(int sig) {
	struct sigaction a = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
	sigaction(sig, &a, NULL);
	sigset_t others;
	sigfillset(&others);
	sigdelset(&others, sig);
	while (came.si_signo != sig)
		sigsuspend(&others);
	printf("%d from %s, code %d\n", sig, who(came.si_pid), came.si_code);
	came.si_signo = 0;
}

static void *named_thread(void *unused) {
	char text[64] = "";
	snprintf(text, sizeof text, "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
	FILE *f = fopen(text, "w+");
	fputs("worker", f);
	rewind(f);
	fgets(text, sizeof text, f);
	printf("thread %s", text);
	return NULL;
}

static void *killer(void *to) {
	pthread_kill(*(pthread_t *)to, SIGUSR1);
	return NULL;
}

// is forks, and reports whether this is the child, whose parent is then known as parent.
static int is_child(void) {
	if ((child = fork()) == 0) {
		parent = self;
		self = getpid();
		return 1;
	}
	return 0;
}

static void signals(void) {
	kill(self, SIGUSR1);
	await(SIGUSR1);
	raise(SIGUSR1);
	await(SIGUSR1);
	pthread_t t, first = pthread_self();
	pthread_create(&t, NULL, named_thread, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, killer, &first);
	pthread_join(t, NULL);
	await(SIGUSR1);
	sigqueue(self, SIGUSR1, (union sigval){7});
	await(SIGUSR1);
	if (is_child()) {
		await(SIGUSR2);
		kill(parent, SIGUSR1);
		_exit(3);
	}
	kill(child, SIGUSR2);
	await(SIGUSR1);
	await(SIGCHLD);
	wait(NULL);

	sigset_t chld;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	siginfo_t i;
	struct timespec long_enough = {100, 0};
	for (int timed = 0; timed < 2; timed++) {
		if (is_child())
			_exit(4);
		timed ? sigtimedwait(&chld, &i, &long_enough) : sigwaitinfo(&chld, &i);
		printf("%s %d %d\n", who(i.si_pid), i.si_status, (int)i.si_utime);
		wait(NULL);
	}
	int fd = signalfd(-1, &chld, 0);
	if (is_child())
		_exit(5);
	struct signalfd_siginfo s;
	read(dup(fd), &s, sizeof s);
	printf("%s %d\n", who(s.ssi_pid), s.ssi_status);
	wait(NULL);
}

static void locks(void) {
	int fd = memfd_create("file", 0), held[2];
	char c;
	struct flock l = {.l_type = F_WRLCK};
	pipe(held);
	if (is_child()) {
		fcntl(fd, F_SETLK, &l);
		write(held[1], "x", 1);
		pause();
	}
	read(held[0], &c, 1);
	fcntl(fd, F_GETLK, &l);
	printf("locked by %s\n", who(l.l_pid));
	kill(child, SIGKILL);
	wait(NULL);
	l.l_type = F_RDLCK, l.l_pid = 99;
	fcntl(fd, F_GETLK, &l);
	printf("%d %d\n", l.l_type, l.l_pid);
	int shm = shmget(IPC_PRIVATE, 4096, 0600);
	struct shmid_ds of;
	if (is_child()) {
		shmat(shm, NULL, 0);
		_exit(0);
	}
	wait(NULL);
	shmctl(shm, IPC_STAT, &of);
	printf("made by %s, used by %s\n", who(of.shm_cpid), who(of.shm_lpid));
	shmctl(shm, IPC_RMID, NULL);
}

static void sockets(void) {
	int s[2], on = 1;
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	struct ucred u;
	socklen_t n = sizeof u;
	if (is_child()) {
		getsockopt(s[0], SOL_SOCKET, SO_PEERCRED, &u, &n);
		printf("peer %s\n", who(u.pid));
		_exit(0);
	}
	wait(NULL);
	setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	char text = 'x';
	union {
		char room[64];
		struct cmsghdr head;
	} control = {.head = {CMSG_LEN(sizeof u), SOL_SOCKET, SCM_CREDENTIALS}};
	struct iovec v = {&text, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(sizeof u)};
	u = (struct ucred){self, getuid(), getgid()};
	memcpy(CMSG_DATA(&control.head), &u, sizeof u);
	printf("sent %ld", (long)sendmsg(s[1], &m, 0));
	memcpy(&u, CMSG_DATA(&control.head), sizeof u);
	printf(" by %s\n", who(u.pid));
	if (is_child()) {
		send(s[1], "x", 1, 0);
		_exit(0);
	}
	wait(NULL);
	for (int i = 0; i < 2; i++) {
		m.msg_controllen = sizeof control;
		recvmsg(s[0], &m, 0);
		memcpy(&u, CMSG_DATA(&control.head), sizeof u);
		printf("came from %s\n", who(u.pid));
	}
}

static void owners(void) {
	int s[2], id = self;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	struct f_owner_ex o = {F_OWNER_TID, self};
	printf("%d", fcntl(s[0], F_SETOWN_EX, &o));
	fcntl(s[0], F_GETOWN_EX, &o);
	printf(" %s\n", who(o.pid));
	printf("%d", fcntl(s[0], F_SETOWN, 4000000));
	printf(" %d", fcntl(s[0], F_SETOWN, self));
	printf(" %s\n", who(fcntl(s[0], F_GETOWN)));
	printf("%d", ioctl(s[0], FIOSETOWN, &id));
	id = 0;
	ioctl(s[0], SIOCGPGRP, &id);
	printf(" %s\n", who(id));
	fcntl(s[0], F_SETFL, O_ASYNC);
	write(s[1], "x", 1);
	int sig;
	sigset_t io;
	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	sigwait(&io, &sig);
	printf("signal %d\n", sig);
}

static void orphans(void) {
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	int go[2], is[2];
	char c;
	pipe(go);
	pipe(is);
	if (is_child()) {
		if (fork() == 0) {
			read(go[0], &c, 1);
			printf("%s\n", who(getppid()) == who(parent) ? "adopted" : "not adopted");
			id_t me = getpid();
			write(is[1], &me, sizeof me);
			_exit(7);
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
	write(go[1], "x", 1);
	pid_t grandchild;
	int status = 0;
	read(is[0], &grandchild, sizeof grandchild);
	printf("%d", waitpid(grandchild, &status, 0) == grandchild);
	printf(" %d\n", WEXITSTATUS(status));
}

// since prints whether all clocks that tell since when the machine runs agree.
static void since(void) {
	for (int i = 0; i < 2; i++, sleep(3)) {
		struct sysinfo s;
		struct timespec t;
		double up = 0;
		long boot = 0;
		char line[4096];
		sysinfo(&s);
		clock_gettime(CLOCK_BOOTTIME, &t);
		FILE *f = fopen("/proc/uptime", "r");
		fscanf(f, "%lf", &up);
		fclose(f);
		f = fopen("/proc/stat", "r");
		while (fgets(line, sizeof line, f))
			sscanf(line, "btime %ld", &boot);
		fclose(f);
		printf("%d %d %d\n", labs(s.uptime - t.tv_sec) < 3, labs((long)up - t.tv_sec) < 3, labs(time(NULL) - t.tv_sec - boot) < 3);
	}
}

int main(int argc, char **argv) {
	setvbuf(stdout, NULL, _IOLBF, 0);
	self = getpid(), parent = getppid();
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	struct { const char *name; void (*f)(void); } how[] = {{"signals", signals}, {"locks", locks}, {"sockets", sockets},
		{"owners", owners}, {"orphans", orphans}, {"since", since}};
	for (int i = 0; i < 6; i++)
		if (!strcmp(argv[1], how[i].name))
			how[i].f();
	return 0;
}
