// Threads that sleep again and again, with the names of the arguments, beside a call on a file. It ends with the error
// of a second one, for which there is no directory.
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int named;

static void *sleeps(void *name)
{
	prctl(PR_SET_NAME, name);
	__atomic_add_fetch(&named, 1, __ATOMIC_SEQ_CST);
	for (;;)
		usleep(50000);
}

int main(int argc, char **argv)
{
	pthread_t t;
	for (int i = 1; i < argc; i++)
		pthread_create(&t, NULL, sleeps, argv[i]);
	while (__atomic_load_n(&named, __ATOMIC_SEQ_CST) < argc - 1)
		usleep(1000);
	mkdir("made", 0777);
	errno = 0;
	mkdir("/tmp/hsperfdata_of/nobody", 0777);
	return errno;
}
