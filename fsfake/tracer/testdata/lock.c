// A lock by O_EXCL, record locks that a close drops, threads that write.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int set(int fd, short type) {
	struct flock l = {.l_type = type, .l_whence = SEEK_SET};
	return fcntl(fd, F_SETLK, &l);
}

static void *work(void *name) {
	int fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);
	write(fd, name, strlen(name));
	close(fd);
	return NULL;
}

int main(void) {
	int fd = open("lock", O_CREAT | O_EXCL | O_RDWR, 0644);
	printf("%d %d\n", fd >= 0, open("lock", O_CREAT | O_EXCL | O_RDWR, 0644));
	write(fd, "hello", 5);
	printf("set %d\n", set(fd, F_WRLCK));
	pid_t child = fork();
	if (child == 0) {
		struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		printf("child: set %d, holder is my parent: ", set(fd, F_WRLCK));
		fcntl(fd, F_GETLK, &l);
		printf("%d\n", l.l_pid == getppid());
		fflush(stdout);
		_exit(5);
	}
	int status;
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WEXITSTATUS(status));
	close(dup(fd)); // drops the record lock
	child = fork();
	if (child == 0) {
		int r = set(fd, F_WRLCK);
		_exit(r == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	printf("after the close of a duplicate: %d\n", WEXITSTATUS(status));
	char *m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	printf("mapped %.5s\n", m);
	dup2(fd, 17);
	close(fd);
	fcntl(17, F_SETFD, FD_CLOEXEC);
	printf("flags %d\n", fcntl(17, F_GETFL) & O_ACCMODE);
	pthread_t t[3];
	char *names[] = {"t1", "t2", "t3"};
	for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, names[i]);
	for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
	struct stat st;
	int found = stat("t2", &st); // before its size is read: arguments are evaluated in any order
	printf("%d %d\n", found, (int)st.st_size);
	unlink("lock");
	int held = open("held", O_CREAT | O_RDWR, 0600);
	printf("flock %d\n", flock(held, LOCK_EX));
	fflush(stdout);
	int copy = dup(held);
	fcntl(held, F_SETFD, FD_CLOEXEC);
	fcntl(copy, F_SETFD, FD_CLOEXEC);
	execlp("flock", "flock", "-n", "held", "echo", "free after exec", NULL);
	return 1;
}
