#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
	int fd;
	while ((fd = open("app.lock", O_CREAT | O_EXCL | O_WRONLY, 0644)) < 0) {
		if (errno != EEXIST) return 2;
		usleep(50000);
	}
	close(fd);
	if (mkdir("cs", 0755) != 0) return 3;
	rmdir("cs");
	unlink("app.lock");
	return 0;
}
