/* SPDX-License-Identifier: ISC */
#include "files/config_pack.h"
#include "files/reader.h"

int
config_ask(struct config *c, const char *file, const char *user_home,
    const char *profile, struct span text, struct fault *fault)
{
	const struct span parts[READER_PARTS] = {span_str(file),
	    span_str(user_home), span_str(profile == NULL ? "" : profile),
	    text};
	struct buf answer;
	int rv;

	buf_init(&answer, READER_MAX_ANSWER);
	rv = reader_read(READER_CONFIG, parts, file, &answer, fault);
	if (rv == 0 && config_take(c, buf_span(&answer)) == -1)
		rv = reader_bad(fault);
	buf_free(&answer);
	return rv;
}
