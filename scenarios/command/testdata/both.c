/* both [go]: shows data and says so, by two threads; with go, only then lets others go. */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static void *show(void *none) { rename("tmp", "data"); return none; }
static void *say(void *none) { mkdir("ready", 0777); return none; }

int main(int argc, char **argv) {
	pthread_t a, b;
	if (pthread_create(&a, 0, show, 0) || pthread_create(&b, 0, say, 0)) return 2;
	pthread_join(a, 0);
	pthread_join(b, 0);
	return argc > 1 && rename("ready", "go") ? 1 : 0;
}
