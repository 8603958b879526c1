/* SPDX-License-Identifier: ISC */
/*
 * The positive control: an ordinary process that keeps a line from stdin in its
 * memory and a copy of stdin's descriptor, prints where, and stays until stdin
 * closes.
 */
#include <sys/prctl.h>

#include <stdio.h>
#include <unistd.h>

static char line[4096];

int
main(void)
{
	char rest;

	/* Yama may restrict who may attach. */
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (read(STDIN_FILENO, line, sizeof(line) - 1) <= 0)
		return 1;
	printf("%p\n", (void *)line);
	fflush(stdout);
	while (read(STDIN_FILENO, &rest, 1) > 0)
		;
	return 0;
}
