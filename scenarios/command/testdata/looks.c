// Two threads that look at files many times. "own": each through a descriptor of its own, and then appends its name.
// "shared": one moves the position from which the other reads.
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int shared, own;

static void *first(void *arg) {
  struct stat s;
  int fd = open("s", O_RDONLY), log = open("log", O_WRONLY | O_APPEND);
  for (int i = 0; i < 9; i++) fstat(fd, &s);
  if (own) write(log, "1", 1);
  else lseek(shared, 1, SEEK_SET);
  return 0;
}

static void *second(void *arg) {
  struct stat s;
  char c;
  int fd = open("s", O_RDONLY), log = open("log", O_WRONLY | O_APPEND);
  for (int i = 0; i < 9; i++) lseek(fd, 0, SEEK_CUR);
  if (own) write(log, "2", 1);
  else if (read(shared, &c, 1) == 1) write(log, &c, 1);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t a, b;
  own = !strcmp(argv[1], "own");
  shared = open("s", O_RDONLY);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
