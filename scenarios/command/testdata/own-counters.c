// Two children add one to n, each; with an argument they lock l to write. What the memory file holds is not known, so that their orders do not meet, and there
// are more than are followed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  memfd_create("m", 0);
  for (int i = 0; i < 2; i++) {
    if (fork() != 0) continue;
    struct stat st;
    for (int n = 0; n < 3; n++) stat("n", &st);
    char digit;
    int fd = open("n", O_RDWR);
    read(fd, &digit, 1);
    digit++;
    if (argc > 1) flock(open("l", O_RDWR), LOCK_EX);
    pwrite(fd, &digit, 1, 0);
    _exit(0);
  }
  wait(NULL);
  wait(NULL);
}
