/* SPDX-License-Identifier: ISC */
/*
 * Tests files of destinations that load, and those that do not, with the error
 * message.
 */
#ifndef DEST_FILES_H
#define DEST_FILES_H

#include "mitmd/provider/provider.h"
#include "tap.h"

struct dest_file {
	const char *text, *want; /* part of the message; NULL: the file loads */
};

static inline void
test_dest_files(const struct dest_file *files, size_t n)
{
	struct provider *p;
	char err[256];

	for (size_t i = 0; i < n; i++) {
		p = provider_parse(span_str(files[i].text), err, sizeof(err));
		if (files[i].want == NULL)
			ok(p != NULL, "loads: %s", files[i].text);
		else
			ok(p == NULL && strstr(err, files[i].want) != NULL,
			    "does not load: %s", err);
		provider_free(p);
	}
}

#endif
