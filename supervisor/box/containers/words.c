/* SPDX-License-Identifier: ISC */
/* Command lines of an engine's client whose words are allocated. */
#include "box/containers/engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
engine_add(struct wordlist *list, char *text)
{
	if (text == NULL)
		return -1;
	wordlist_add(list, text);
	if (!list->spoilt)
		return 0;
	free(text);
	errno = E2BIG;
	return -1;
}

int
engine_add_mount(struct wordlist *list, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		return -1;
	if (engine_add(list, strdup("--mount")) == -1) {
		free(text);
		return -1;
	}
	return engine_add(list, text);
}
