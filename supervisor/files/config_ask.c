/* SPDX-License-Identifier: ISC */
#include "files/config_pack.h"

#include <errno.h>
#include <string.h>

#include "files/reader.h"

/* Take the answer: a letter, and the fault or the configuration. */
static int
ask_take(struct config *c, struct span answer, struct fault *fault)
{
	const uint8_t letter = answer.len == 0 ? 0 : answer.p[0];
	char text[sizeof(fault->text)];

	if (answer.len != 0)
		answer = span_of(answer.p + 1, answer.len - 1);
	if (letter == READER_FAULT &&
	    span_copy(answer, text, sizeof(text)) == 0)
		return fault_set(fault, "%s", text);
	if (letter == READER_GOOD && config_take(c, answer) == 0)
		return 0;
	return fault_set(fault, READER_PROGRAM ": the answer is not valid");
}

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
	if (reader_ask(READER_CONFIG, parts, &answer) == -1)
		rv = fault_set_kind(fault, FAULT_SCARCE,
		    READER_PROGRAM ", which reads %s: %s%s", file,
		    strerror(errno), fault_remedy(errno));
	else
		rv = ask_take(c, buf_span(&answer), fault);
	buf_free(&answer);
	return rv;
}
