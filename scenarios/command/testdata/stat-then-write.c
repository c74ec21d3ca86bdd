#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
	struct stat st;
	if (stat("app.lock", &st) == 0) return 1;
	int fd = open("app.lock", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	if (write(fd, "locked\n", 7) != 7) return 2;
	close(fd);
	if (mkdir("cs", 0755) != 0) return 3;
	rmdir("cs");
	unlink("app.lock");
	return 0;
}
