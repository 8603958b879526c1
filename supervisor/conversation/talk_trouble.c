/* SPDX-License-Identifier: ISC */
#include "conversation/talk_trouble.h"

#include <stdio.h>
#include <time.h>

#include "conversation/talk_events.h"
#include "json_put.h"
#include "sup.h"

static struct {
	/* The first that the running turn showed: of its errors, of its text. */
	enum adapter_trouble error, said;
	int64_t error_reset, said_reset;
	bool quota; /* used up, as the last turn showed */
	int64_t until;
} trouble_env;

void
talk_trouble_begin(void)
{
	trouble_env.error = trouble_env.said = TROUBLE_NONE;
	trouble_env.error_reset = trouble_env.said_reset = 0;
}

void
talk_trouble_see(struct span text, bool error)
{
	enum adapter_trouble *kind =
	    error ? &trouble_env.error : &trouble_env.said;

	if (*kind == TROUBLE_NONE && sup.opt.command == NULL)
		*kind = adapter_errors_find(&sup.adapter.errors, text,
		    (int64_t)time(NULL),
		    error ? &trouble_env.error_reset : &trouble_env.said_reset);
}

/* Returns the time as text, or "" if it is not known. */
static const char *
trouble_time(int64_t when, char *dst, size_t cap)
{
	time_t t = (time_t)when;
	struct tm tm;

	dst[0] = '\0';
	if (when != 0 && gmtime_r(&t, &tm) != NULL)
		(void)strftime(dst, cap, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return dst;
}

static void
trouble_tell(enum adapter_trouble kind, int64_t reset)
{
	struct json_object *o = json_object_new_object();
	char when[TALK_UNTIL], text[256];

	(void)trouble_time(reset, when, sizeof(when));
	switch (kind) {
	case TROUBLE_QUOTA:
		snprintf(text, sizeof(text),
		    "the provider's quota is used up%s%s. The conversation "
		    "is kept: send the message again then",
		    when[0] != '\0' ? " until " : "", when);
		break;
	case TROUBLE_TRANSIENT:
		snprintf(text, sizeof(text),
		    "the provider is overloaded, or was not reached: send the "
		    "message again in a minute");
		break;
	case TROUBLE_AUTHENTICATION:
		snprintf(text, sizeof(text),
		    "the provider refused the credential. Log in again (icctl "
		    "login), or give a new key and run: icctl keys reload");
		break;
	case TROUBLE_HARD:
	case TROUBLE_NONE:
		snprintf(text, sizeof(text),
		    "the agent cannot go on with this conversation: start "
		    "another one");
		break;
	}
	put_str(o, "text", text);
	put_str(o, "kind", adapter_trouble_name(kind));
	if (when[0] != '\0')
		put_str(o, "until", when);
	talk_event_now("error", o);
}

const char *
talk_trouble_end(bool failed)
{
	enum adapter_trouble kind = trouble_env.error;
	int64_t reset = trouble_env.error_reset;

	if (kind == TROUBLE_NONE) {
		kind = trouble_env.said;
		reset = trouble_env.said_reset;
	}
	if (!failed)
		kind = TROUBLE_NONE;
	trouble_env.quota = kind == TROUBLE_QUOTA;
	trouble_env.until = reset;
	if (kind == TROUBLE_NONE)
		return NULL;
	trouble_tell(kind, reset);
	return adapter_trouble_name(kind);
}

bool
talk_trouble_quota(char until[TALK_UNTIL])
{
	if (trouble_env.until != 0 && trouble_env.until <= (int64_t)time(NULL))
		trouble_env.quota = false;
	if (trouble_env.quota && until != NULL)
		(void)trouble_time(trouble_env.until, until, TALK_UNTIL);
	return trouble_env.quota;
}
