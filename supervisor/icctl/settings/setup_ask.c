/* SPDX-License-Identifier: ISC */
/* A question of `icctl setup`, and what becomes of the answer. */
#include "icctl/settings/setup.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/wrap.h"

void
setup_say(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		return;
	wrap_hang(stdout, text, 0, "", wrap_columns(STDOUT_FILENO));
	putchar('\n');
	free(text);
}

bool
setup_ask(const char *question, const char *dflt, char *dst, size_t cap)
{
	printf("%s [%s] ", question, dflt);
	fflush(stdout);
	if (fgets(dst, (int)cap, stdin) == NULL) {
		putchar('\n');
		return false;
	}
	dst[strcspn(dst, "\n")] = '\0';
	if (dst[0] == '\0')
		(void)strlcpy(dst, dflt, cap);
	return true;
}

int
setup_put(struct setup *s, const char *key, json_object *value)
{
	struct fault fault = {""};
	struct settings_key k;
	json_object *old = NULL;
	int rv = -1;

	if (key_parse(&k, key, &fault) == -1) {
		json_object_put(value);
	} else if (key_get(s->file.root, &k, &old) &&
		   json_object_equal(old, value)) {
		json_object_put(value);
		rv = 0;
	} else if ((rv = key_set(s->file.root, &k, value, &fault)) == 0) {
		s->changed = true;
	}
	if (rv == -1)
		warnx("%s", fault.text);
	key_free(&k);
	return rv;
}
