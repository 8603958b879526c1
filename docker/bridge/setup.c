/* SPDX-License-Identifier: ISC */
/*
 * Two steps that bubblewrap takes before it starts ic-bridge, and a container
 * engine does not: the whole system-call filter, because engines leave out
 * calls that their library has no name for, and the agent's environment, which
 * would otherwise be in the engine's own records.
 */
#include "bridge.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETUP_MAX (1U << 20)

/* Read a whole file, which has a NUL after its end; exits if it cannot. */
static char *
setup_read(const char *path, size_t *len)
{
	struct stat st;
	char *text;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    fstat(fd, &st) == -1)
		bridge_die(path);
	errno = EFBIG;
	if (st.st_size > (off_t)SETUP_MAX ||
	    (text = calloc(1, (size_t)st.st_size + 1)) == NULL)
		bridge_die(path);
	for (*len = 0; *len < (size_t)st.st_size; *len += (size_t)n)
		if ((n = read(fd, text + *len, (size_t)st.st_size - *len)) <= 0)
			bridge_die(path);
	close(fd);
	return text;
}

void
setup_environment(const char *path)
{
	char *text, *line, *save, *eq;
	size_t len;

	text = setup_read(path, &len);
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if ((eq = strchr(line, '=')) == NULL)
			continue;
		*eq = '\0';
		if (setenv(line, eq + 1, 1) == -1)
			bridge_die(path);
	}
	free(text);
}

void
setup_filter(const char *path)
{
	struct sock_fprog filter;
	size_t len;
	char *code;

	code = setup_read(path, &len);
	errno = EINVAL;
	if (len == 0 || len % sizeof(*filter.filter) != 0 ||
	    len / sizeof(*filter.filter) > BPF_MAXINSNS)
		bridge_die(path);
	filter.len = (unsigned short)(len / sizeof(*filter.filter));
	filter.filter = (struct sock_filter *)(void *)code;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == -1)
		bridge_die("the system-call filter");
	free(code);
}
