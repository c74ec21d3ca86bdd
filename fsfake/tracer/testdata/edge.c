// Asks for its own executable, and executes a program, with a stack that is hardly deeper than its mapping.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

static uintptr_t start(void) {
	char line[512];
	uintptr_t from = 0, a, b;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &a, &b) == 2) from = a;
	fclose(maps);
	return from;
}

// at makes a call with the stack pointer there.
static long at(uintptr_t sp, long nr, const void *a, const void *b, const void *c) {
	long ret;
	__asm__ volatile("mov %%rsp, %%r12\n\tmov %5, %%rsp\n\tsyscall\n\tmov %%r12, %%rsp"
		: "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(sp) : "rcx", "r11", "r12", "memory");
	return ret;
}

int main(int argc, char **argv, char **envp) {
	static char exe[4096];
	char *args[] = {argv[1], NULL};
	uintptr_t sp = start() + 400;
	if (at(sp, SYS_readlink, "/proc/self/exe", exe, (void *)sizeof exe) <= 0 || !strstr(exe, "edge")) return 3;
	at(sp, SYS_execve, argv[1], args, envp);
	return 4;
}
