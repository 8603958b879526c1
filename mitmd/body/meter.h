/* SPDX-License-Identifier: ISC */
/*
 * Reads the usage that a provider reports in an answer: tokens and model. The
 * answer is read while it passes, as JSON, server-sent events or Amazon's event
 * streams, however it is split, in constant memory. The counts are the
 * provider's own; no text that a model writes can appear where they are looked
 * for. Texts that are not JSON, or nested too deep, are skipped.
 *
 * The result has one form for all providers: `in` is the input at full price,
 * excluding `cache_read` and `cache_write`; `out` includes `reasoning`.
 */
#ifndef METER_H
#define METER_H

#include "common/span.h"

#define METER_MAX_DEPTH 64U
#define METER_MAX_KEY 40U
#define METER_MAX_MODEL 128U
#define METER_MAX_COUNT 1000000000000ULL /* tokens, in one answer */

enum meter_format {
	METER_NONE,
	METER_JSON,
	METER_SSE,
	METER_AWS, /* application/vnd.amazon.eventstream */
};

struct meter_usage {
	uint64_t in, out, cache_read, cache_write, reasoning;
	bool seen; /* the answer had at least one count */
	char model[METER_MAX_MODEL + 1];
};

/* The counts as providers name them. Private to the meter. */
enum meter_count {
	METER_INPUT,  /* Anthropic, responses; may exclude or include the cached
		       */
	METER_PROMPT, /* chat, Gemini: including the cached */
	METER_OUTPUT,
	METER_CANDIDATES, /* Gemini: excluding the thoughts */
	METER_THOUGHTS,
	METER_TOOL_PROMPT,
	METER_READ, /* in addition to the input */
	METER_WRITE,
	METER_CACHED, /* part of the input */
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
	METER_LOST, /* skip to the next text */
};

struct meter_json {
	enum meter_state state;
	bool escaped;   /* the last byte of the string was a backslash */
	uint8_t wanted; /* meaning of this value; 0 if not wanted */
	unsigned depth;
	uint64_t objects; /* bit n: the container at depth n is an object */
	uint8_t ctx[METER_MAX_DEPTH];
	uint8_t next; /* meaning of the next value */
	unsigned len; /* bytes in text[]; larger if it did not fit */
	char text[METER_MAX_MODEL + 1];
};

/*
 * Amazon's event streams: frames of a prelude (length, length of the headers,
 * CRC), headers, a payload, and a CRC of it all. The payload is an event's
 * JSON, or, in an event "chunk", an object of strings whose "bytes" is that
 * JSON in base64.
 */
#define METER_AWS_PRELUDE 12U
#define METER_AWS_HEADERS 256U      /* longer ones are ignored */
#define METER_AWS_FRAME (32U << 20) /* a longer length is an error */

enum meter_aws_state {
	METER_AWS_PRELUDE_IN,
	METER_AWS_HEADERS_IN,
	METER_AWS_PAYLOAD_IN,
	METER_AWS_CRC_IN,
	METER_AWS_LOST, /* the start of the next frame is unknown */
};

struct meter_aws {
	enum meter_aws_state state;
	uint32_t part; /* bytes of the frame so far */
	uint32_t left; /* bytes left in this part of the frame */
	uint32_t headers, payload;
	uint32_t crc;  /* CRC of the frame so far */
	unsigned have; /* bytes in `text` */
	bool chunk;    /* the payload has the event in base64 */
	/* within such a payload */
	bool string, escaped, value, bytes;
	unsigned len;  /* bytes in name[] */
	uint32_t bits; /* base64 digits not yet written */
	unsigned nbits;
	char name[8];
	uint8_t text[METER_AWS_HEADERS];
};

struct meter {
	enum meter_format format;
	struct meter_json json;
	uint64_t counts[METER_COUNTS];
	uint16_t have; /* bit n: counts[n] was in the answer */
	char model[METER_MAX_MODEL + 1];
	struct meter_aws aws;
	/* the state before this frame, restored if its CRC is wrong */
	uint64_t before[METER_COUNTS];
	uint16_t had;
	/* server-sent events */
	bool any, cr;   /* the line is not empty; the last byte was CR */
	unsigned field; /* bytes of "data:" matched so far */
};

void meter_begin(struct meter *, enum meter_format);
/* Returns the format for an answer's Content-Type. */
enum meter_format meter_format_of(struct span type);
/* Feed the next bytes of the decoded body. */
void meter_feed(struct meter *, struct span);
/* Report the usage known so far. */
void meter_read(const struct meter *, struct meter_usage *);

/* meter_json.c: Scan one JSON text and store its counts in meter->counts. */
void meter_json_begin(struct meter_json *);
void meter_json_feed(struct meter *, struct span);
/* meter_aws.c */
void meter_aws_feed(struct meter *, struct span);
/*
 * Returns how many of the latest bytes belong to an incomplete frame, or
 * SIZE_MAX if the start of the frames is unknown.
 */
size_t meter_aws_part(const struct meter *);

#endif
