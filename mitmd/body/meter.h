/* SPDX-License-Identifier: ISC */
/*
 * What an answer of a provider says it cost: tokens and model, read while the
 * answer passes, from JSON, server-sent events or Amazon's event streams, over
 * any split, in constant memory.  Counts come from the provider; nothing that a
 * model writes stands where they are looked for.  A text that is not JSON, or
 * deeper than is looked at, is passed over.
 *
 * One form for all: `in` is what was read at the full price, `cache_read` and
 * `cache_write` came besides it; `reasoning` is a part of `out`.
 */
#ifndef METER_H
#define METER_H

#include "common/span.h"

#define METER_MAX_DEPTH 64U
#define METER_MAX_KEY 40U
#define METER_MAX_MODEL 128U
#define METER_MAX_COUNT 1000000000000ULL /* of tokens, in one answer */

enum meter_format {
	METER_NONE,
	METER_JSON,
	METER_SSE,
	METER_AWS, /* application/vnd.amazon.eventstream */
};

struct meter_usage {
	uint64_t in, out, cache_read, cache_write, reasoning;
	bool seen; /* any count was there */
	char model[METER_MAX_MODEL + 1];
};

/* meter.c's and its scanner's own: counts as they stood there. */
enum meter_count {
	METER_INPUT,  /* Anthropic, responses; beside, or with the cached */
	METER_PROMPT, /* chat, Gemini: with the cached */
	METER_OUTPUT,
	METER_CANDIDATES, /* Gemini: without the thoughts */
	METER_THOUGHTS,
	METER_TOOL_PROMPT,
	METER_READ, /* beside the input */
	METER_WRITE,
	METER_CACHED, /* within the input */
	METER_REASONING,
	METER_COUNTS,
};

enum meter_state {
	METER_VALUE, /* or the end of an array */
	METER_NAME,  /* or the end of an object */
	METER_COLON,
	METER_AFTER, /* comma, or an end */
	METER_IN_STRING,
	METER_IN_NAME,
	METER_IN_ATOM,
	METER_LOST, /* until the next text */
};

struct meter_json {
	enum meter_state state;
	bool escaped;   /* within a string: the latest was a backslash */
	uint8_t wanted; /* what the value is, when it is wanted */
	unsigned depth;
	uint64_t objects; /* bit n: what is open at n is one */
	uint8_t ctx[METER_MAX_DEPTH];
	uint8_t next; /* what the value to come is */
	unsigned len; /* of text[], or more: too long */
	char text[METER_MAX_MODEL + 1];
};

/*
 * Of Amazon's event streams: frames of a prelude (length, length of the
 * headers, CRC), headers, a payload and a CRC of it all.  The payload is an
 * event's JSON, or in an event "chunk" an object of strings, of which "bytes"
 * is that JSON in base64.
 */
#define METER_AWS_PRELUDE 12U
#define METER_AWS_HEADERS 256U      /* longer ones are not looked into */
#define METER_AWS_FRAME (32U << 20) /* a longer one is none */

enum meter_aws_state {
	METER_AWS_PRELUDE_IN,
	METER_AWS_HEADERS_IN,
	METER_AWS_PAYLOAD_IN,
	METER_AWS_CRC_IN,
	METER_AWS_LOST, /* for good: where the next frame is, is unknown */
};

struct meter_aws {
	enum meter_aws_state state;
	uint32_t part; /* bytes of the frame so far */
	uint32_t left; /* bytes of this part */
	uint32_t headers, payload;
	uint32_t crc;  /* of the frame so far */
	unsigned have; /* bytes in `text` */
	bool chunk;    /* the payload holds the event in base64 */
	/* within such a payload */
	bool string, escaped, value, bytes;
	unsigned len;  /* of a name */
	uint32_t bits; /* of base64 not yet written */
	unsigned nbits;
	char name[8];
	uint8_t text[METER_AWS_HEADERS];
};

struct meter {
	enum meter_format format;
	struct meter_json json;
	uint64_t counts[METER_COUNTS];
	uint16_t have; /* bit n: counts[n] was there */
	char model[METER_MAX_MODEL + 1];
	struct meter_aws aws;
	/* what they were before the frame, should its CRC be wrong */
	uint64_t before[METER_COUNTS];
	uint16_t had;
	/* of server-sent events */
	bool any, cr;   /* the line has a byte; the latest was CR */
	unsigned field; /* bytes of "data:" that fit so far */
};

void meter_begin(struct meter *, enum meter_format);
/* By the Content-Type of an answer. */
enum meter_format meter_format_of(struct span type);
/* The next bytes of the decoded body. */
void meter_feed(struct meter *, struct span);
/* What is known by now. */
void meter_read(const struct meter *, struct meter_usage *);

/* meter_json.c: one JSON text, its tokens to meter->counts. */
void meter_json_begin(struct meter_json *);
void meter_json_feed(struct meter *, struct span);
/* meter_aws.c */
void meter_aws_feed(struct meter *, struct span);
/*
 * How many of the latest bytes belong to a frame that is not whole; SIZE_MAX:
 * where frames begin is unknown.
 */
size_t meter_aws_part(const struct meter *);

#endif
