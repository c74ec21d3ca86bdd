// Threads that sleep again and again, with the names of the arguments, beside a call on a file. Who is named after "-"
// is started by the one before. It ends with the error of a second call, for which there is no directory.
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int named;

static void *sleeps(void *of)
{
	char **name = of;
	pthread_t t;
	prctl(PR_SET_NAME, name[0]);
	if (name[1] && name[1][0] == '-')
		pthread_create(&t, NULL, sleeps, name + 2);
	__atomic_add_fetch(&named, 1, __ATOMIC_SEQ_CST);
	for (;;)
		usleep(50000);
}

int main(int argc, char **argv)
{
	pthread_t t;
	int threads = argc - 1;
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == '-')
			threads -= 1, i++;
		else
			pthread_create(&t, NULL, sleeps, argv + i);
	while (__atomic_load_n(&named, __ATOMIC_SEQ_CST) < threads)
		usleep(1000);
	mkdir("made", 0777);
	errno = 0;
	mkdir("/tmp/hsperfdata_of/nobody", 0777);
	return errno;
}
