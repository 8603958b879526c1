/* SPDX-License-Identifier: ISC */
/*
 * The meter: finds the JSON texts in an answer. Labels are not trusted: events
 * come as application/json, JSON as text/event-stream, and either without any
 * label. A JSON body may hold several texts, one after the other.
 */
#include "body/meter.h"

#include "body/meter_ctx.h"

#define FIELD "data:"
#define FIELD_LEN (sizeof(FIELD) - 1)
#define FIELD_OTHER (FIELD_LEN + 1)

void
meter_begin(struct meter *m, enum meter_format format)
{
	memset(m, 0, sizeof(*m));
	m->format = format;
	meter_json_begin(m);
}

enum meter_format
meter_format_of(struct span type)
{
	const uint8_t *semi;

	if (type.len != 0 && (semi = memchr(type.p, ';', type.len)) != NULL)
		type.len = (size_t)(semi - type.p);
	while (type.len != 0 && type.p[type.len - 1] == ' ')
		type.len--;
	if (span_ieq(type, SPAN("application/json")))
		return METER_JSON;
	if (span_ieq(type, SPAN("application/vnd.amazon.eventstream")))
		return METER_AWS;
	return METER_SSE;
}

bool
meter_seen(const struct meter *m)
{
	return m->found.have != 0 || m->event.have != 0;
}

bool
meter_done(const struct meter *m)
{
	return m->found.done;
}

/*
 * Find the format of what begins at `p`, after white space and a byte order
 * mark. Returns where it begins.
 */
static const uint8_t *
meter_sniff(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	static const char blank[] = "\xef\xbb\xbf \t\r\n\x1e";

	while (p < end && *p != '\0' && strchr(blank, *p) != NULL)
		p++;
	if (p == end)
		return p;
	m->sniffed = true;
	if (*p == '{' || *p == '[')
		m->format = METER_JSON;
	else
		/* A frame of Amazon's begins with its length, below 2^25. */
		m->format = *p < 2 ? METER_AWS : METER_SSE;
	/* Another text: the one before was not all. */
	m->found.done = m->found.finished = false;
	meter_json_begin(m);
	return p;
}

/* End a line. An empty one ends the event. LF, CR and CRLF all end lines. */
static void
meter_line_end(struct meter *m)
{
	/* Some servers leave out the empty line between events. */
	if (!m->any || (m->field == FIELD_LEN && m->json.whole))
		meter_json_begin(m);
	else if (m->field == FIELD_LEN)
		/* Lines of an event's data are joined with LF. */
		(void)meter_json_feed(m, SPAN("\n"));
	m->any = false;
	m->field = 0;
}

static const uint8_t *
meter_line(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from;

	while (p < end && *p != '\n' && *p != '\r' && m->field < FIELD_LEN) {
		m->any = true;
		m->field = *p++ == (uint8_t)FIELD[m->field]
			       ? m->field + 1
			       : (unsigned)FIELD_OTHER;
	}
	from = p;
	while (p < end && *p != '\n' && *p != '\r')
		p++;
	if (m->field == FIELD_LEN && p != from)
		(void)meter_json_feed(m, span_of(from, (size_t)(p - from)));
	return p;
}

static void
meter_sse(struct meter *m, struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len;

	while (p < end) {
		if (*p == '\n' && m->cr) {
			m->cr = false;
			p++;
			continue;
		}
		m->cr = *p == '\r';
		if (*p == '\r' || *p == '\n') {
			meter_line_end(m);
			p++;
		} else {
			p = meter_line(m, p, end);
		}
	}
}

/* Read a body of JSON up to the end of a text. */
static const uint8_t *
meter_texts(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	p += meter_json_feed(m, span_of(p, (size_t)(end - p)));
	if (m->json.whole)
		m->sniffed = false;
	return p;
}

void
meter_feed(struct meter *m, struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len;

	if (m->format == METER_NONE)
		return;
	m->raw += s.len;
	while (p < end) {
		if (!m->sniffed) {
			p = meter_sniff(m, p, end);
			continue;
		}
		switch (m->format) {
		case METER_JSON:
			p = meter_texts(m, p, end);
			continue;
		case METER_SSE:
			meter_sse(m, span_of(p, (size_t)(end - p)));
			break;
		case METER_AWS:
			meter_aws_feed(m, span_of(p, (size_t)(end - p)));
			break;
		case METER_NONE:
			break;
		}
		return;
	}
}

void
meter_header(struct meter *m, struct span name, struct span value)
{
	struct span begins = SPAN("x-amzn-bedrock-");
	struct meter_json *j = &m->json;
	uint8_t is;

	if (name.len <= begins.len || value.len > METER_MAX_MODEL ||
	    !span_ieq(span_of(name.p, begins.len), begins))
		return;
	name = span_of(name.p + begins.len, name.len - begins.len);
	if ((is = meter_member(MC_USAGE, name)) != MC_TIER && is < MC_COUNT)
		return;
	memcpy(j->text, value.p, value.len);
	j->len = (unsigned)value.len;
	j->wanted = is;
	meter_value(m, true);
	m->found.headed |= m->event.counted;
	meter_usage_end(&m->found, &m->event);
	meter_json_begin(m);
}
