/* SPDX-License-Identifier: ISC */
/*
 * Reads the usage that a provider reports in an answer: tokens, model, and what
 * else decides the price. The answer is read while it passes, as JSON,
 * server-sent events or Amazon's event streams, however it is split and
 * labelled, in constant memory. The counts are the provider's own; no text that
 * a model writes can appear where they are looked for. Texts that are not JSON
 * are skipped, and containers that are nested too deep. The bytes of the text
 * are counted as well, for answers that report nothing.
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
#define METER_MAX_COUNT 1000000000000ULL   /* tokens, in one answer */
#define METER_MAX_COST 1000000000000000ULL /* 10^-9 USD, in one answer */
/*
 * An estimate: bytes of text for a token, which is less than usual, and the
 * tokens that a provider's own template adds to a request.
 */
#define METER_TOKEN 3U
#define METER_TEMPLATE 16U

enum meter_format {
	METER_NONE,
	METER_JSON,
	METER_SSE,
	METER_AWS, /* application/vnd.amazon.eventstream */
};

enum meter_tier {
	METER_STANDARD,
	METER_BATCH,
	METER_FLEX,
	METER_PRIORITY,
	METER_TIERS,
};

enum meter_said {
	METER_MEASURED, /* the provider's own counts */
	METER_ENDED,    /* the answer ended before its last counts: estimated */
	METER_SILENT,   /* a complete answer without counts: estimated */
	METER_SAIDS,
};

struct meter_usage {
	uint64_t in, out, cache_read, cache_write, reasoning;
	bool seen; /* the answer had at least one count */
	char model[METER_MAX_MODEL + 1];
	uint64_t cache_write_1h;      /* part of `cache_write` */
	uint64_t audio_in, audio_out; /* parts of `in` and `out` */
	uint64_t searches;            /* the provider searched the web */
	uint64_t cost; /* as stated, in 10^-9 USD; 0: not stated */
	enum meter_tier tier;
	bool fast, regional;
	enum meter_said said;
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
	METER_READ, /* in addition to the input, or part of it */
	METER_WRITE,
	METER_CACHED, /* part of the input, unless that is smaller */
	METER_WRITTEN,
	METER_WRITE_5M,
	METER_WRITE_1H,
	METER_REASONING,
	METER_AUDIO_IN,
	METER_AUDIO_OUT,
	METER_SEARCHES,
	METER_TOTAL,
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
	METER_DEEP, /* in a container that is nested too deep to be read */
	METER_DEEP_STRING,
	METER_LOST, /* skip to the next text */
};

struct meter_json {
	enum meter_state state;
	bool escaped;   /* the last byte of the string was a backslash */
	unsigned hex;   /* digits of \u that are still to come, */
	uint16_t code;  /* and the value of those before */
	bool whole;     /* the text is complete */
	uint8_t wanted; /* meaning of this value; 0 if not wanted */
	unsigned depth;
	uint64_t deep;    /* containers that are open beyond the deepest */
	uint64_t objects; /* bit n: the container at depth n is an object */
	uint8_t ctx[METER_MAX_DEPTH];
	uint8_t next;   /* meaning of the next value */
	unsigned len;   /* bytes in text[]; larger if it did not fit */
	uint64_t bytes; /* bytes of the string so far */
	char text[METER_MAX_MODEL + 1];
};

/* The counts in one JSON text, until it is complete. */
struct meter_event {
	uint64_t n[METER_COUNTS];
	uint64_t sum[METER_COUNTS]; /* the entries of a list, added up */
	uint32_t have;              /* bit n: that count was there */
	unsigned usage, list;       /* depth at which these began; 0: outside */
	bool counted, out;          /* it had a count, and one of the output */
	bool finish;                /* it says that the answer is complete */
	/* an entry of a list of kinds of tokens */
	uint64_t entry;
	bool special; /* audio, or kept for an hour */
};

/* The counts of the answer so far. They only rise. */
struct meter_found {
	uint64_t n[METER_COUNTS];
	uint32_t have;
	uint64_t cost;
	enum meter_tier tier;
	bool tier_said, fast, fast_said, regional;
	bool deltas;    /* the text comes piece by piece */
	bool headed;    /* a header had its counts */
	bool finished;  /* the answer has announced its end, */
	bool done;      /* and after that its counts */
	uint64_t text;  /* bytes of text */
	uint64_t since; /* the same, since the last count of the output */
	char model[METER_MAX_MODEL + 1];
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
	bool sniffed; /* `format` is that of the bytes, not that of the label */
	struct meter_json json;
	struct meter_event event;
	struct meter_found found;
	uint64_t raw; /* bytes so far */
	struct meter_aws aws;
	struct meter_found before; /* restored if a frame's CRC is wrong */
	/* server-sent events */
	bool any, cr;   /* the line is not empty; the last byte was CR */
	unsigned field; /* bytes of "data:" matched so far */
};

/* `format` may be wrong: the first bytes decide. METER_NONE: read nothing. */
void meter_begin(struct meter *, enum meter_format);
/* Returns the format for an answer's Content-Type; METER_SSE if it is none. */
enum meter_format meter_format_of(struct span type);
/* Read a header of the answer: Amazon's has the counts that no body repeats. */
void meter_header(struct meter *, struct span name, struct span value);
/* Feed the next bytes of the decoded body. */
void meter_feed(struct meter *, struct span);
/* Returns true if the answer had a count. */
bool meter_seen(const struct meter *);
/* Returns true if the counts are the answer's last. */
bool meter_done(const struct meter *);

/* meter_sum.c */
/* Report the usage known so far. */
void meter_read(const struct meter *, struct meter_usage *);
/*
 * Report the usage of an answer that is over, with estimates for counts that
 * are missing. `sent`: bytes of the request. `complete`: it was read to its
 * end.
 */
void meter_end(
    const struct meter *, uint64_t sent, bool complete, struct meter_usage *);
/* Returns an estimate of the tokens in a request of that many bytes. */
uint64_t meter_input(uint64_t bytes);

/*
 * meter_json.c: Scan one JSON text and store its counts. Returns how many of
 * the bytes belong to it.
 */
void meter_json_begin(struct meter *);
size_t meter_json_feed(struct meter *, struct span);
/* meter_value.c: Take a value whose meaning is known, and the end of a text. */
void meter_value(struct meter *, bool string);
void meter_entry_end(struct meter *, uint8_t ctx);
void meter_usage_end(struct meter_found *, struct meter_event *);
void meter_text_end(struct meter *);
/* meter_aws.c */
void meter_aws_feed(struct meter *, struct span);
/*
 * Returns how many of the latest bytes belong to an incomplete frame, or
 * SIZE_MAX if the start of the frames is unknown.
 */
size_t meter_aws_part(const struct meter *);

#endif
