/* Tells its pid and waits for a lock. The first argument is which handler SIGUSR1 has. Status 3: the
   signal has ended the wait. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void handler(int sig) { (void)sig; }

int main(int argc, char **argv) {
	struct sigaction a = {.sa_handler = handler};
	char text[32];
	int f, n;
	if (!strcmp(argv[1], "restarts")) a.sa_flags = SA_RESTART;
	if (!strcmp(argv[1], "ignores")) a.sa_handler = SIG_IGN;
	if (!strcmp(argv[1], "none")) a.sa_handler = SIG_DFL;
	sigaction(SIGUSR1, &a, 0);
	n = snprintf(text, sizeof text, "%d\n", getpid());
	f = open("pid", O_CREAT | O_WRONLY | O_TRUNC, 0666);
	if (write(f, text, n) != n) return 1;
	close(f);
	f = open("lock", O_CREAT | O_RDWR, 0666);
	n = flock(f, LOCK_EX) && errno == EINTR ? 3 : 0;
	unlink("pid");
	return n;
}
