/* timer: makes a directory and removes it, beside a thread that would remove it after an hour. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static void *late(void *none) { sleep(3600); rmdir("d"); return none; }

int main(void) {
	pthread_t t;
	if (pthread_create(&t, 0, late, 0)) return 2;
	if (mkdir("d", 0777)) return 1;
	return rmdir("d") ? 2 : 0;
}
