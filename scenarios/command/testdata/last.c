/* last: two threads move a file each to one name, unless somebody has moved it already. */
#include <pthread.h>
#include <stdio.h>

static void *move(void *name) { rename(name, "last"); return 0; }

int main(void) {
	pthread_t a, b;
	if (pthread_create(&a, 0, move, "a") || pthread_create(&b, 0, move, "b")) return 2;
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
