/* sock [stale]: counts under the name of a socket, which it binds; with stale, takes it over where nobody listens. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un lock = {AF_UNIX, "lock"};

static int named(int (*call)(int, const struct sockaddr *, socklen_t)) {
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	return call(s, (struct sockaddr *)&lock, sizeof lock) ? -1 : s;
}

int main(int argc, char **argv) {
	int s = named(bind);
	if (s < 0) {
		if (argc < 2 || named(connect) >= 0) return 1;
		if (errno == ECONNREFUSED) unlink("lock");
		if ((s = named(bind)) < 0) return 1;
	}
	if (argc > 1 && listen(s, 1)) return 2;
	char c;
	int f = open("n", O_RDONLY);
	read(f, &c, 1);
	close(f);
	c++;
	f = open("n", O_WRONLY | O_TRUNC);
	write(f, &c, 1);
	close(f);
	return unlink("lock") ? 3 : 0;
}
