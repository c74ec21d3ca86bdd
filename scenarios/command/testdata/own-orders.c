// Two children leave f as whichever comes last has it; the first waits for a name. What the memory file holds is not
// known, so that their orders do not meet, and there are more than are followed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  memfd_create("m", 0);
  for (char i = '1'; i <= '2'; i++) {
    if (fork() != 0) continue;
    while (i == '1' && mkdir("l", 0777) != 0) sleep(1);
    struct stat st;
    for (int n = 0; n < 6; n++) stat("f", &st);
    char name[] = {'f', '.', i, 0};
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    write(fd, &i, 1);
    close(fd);
    rename(name, "f");
    if (i == '1') rmdir("l");
    _exit(0);
  }
  wait(NULL);
  wait(NULL);
}
