/* SPDX-License-Identifier: ISC */
#include "files/prices.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/jsonfile.h"
#include "files/reader.h"

int
prices_load(struct prices *ps, const struct paths *paths, struct fault *fault)
{
	const char *dirs[] = {paths->home, paths->datadir};
	char path[nitems(dirs)][4400], *text[nitems(dirs)] = {NULL};
	struct span parts[READER_PARTS] = {{NULL, 0}};
	struct buf answer;
	struct stat st;
	size_t len;
	int rv = 0;

	buf_init(&answer, READER_MAX_ANSWER);
	for (size_t i = 0; rv == 0 && i < nitems(dirs); i++) {
		snprintf(
		    path[i], sizeof(path[i]), "%.4000s/prices.json", dirs[i]);
		text[i] = jsonfile_text(path[i], &len, &st, fault);
		if (text[i] != NULL) {
			parts[2 * i] = span_str(path[i]);
			parts[2 * i + 1] = span_of(text[i], len);
		} else if (i != 0 || errno != ENOENT)
			rv = -1;
	}
	if (rv == 0)
		rv = reader_read(
		    READER_PRICES, parts, "prices.json", &answer, fault);
	if (rv == 0 && prices_take(ps, buf_span(&answer)) == -1)
		rv = reader_bad(fault);
	for (size_t i = 0; i < nitems(dirs); i++)
		free(text[i]);
	buf_free(&answer);
	return rv;
}
