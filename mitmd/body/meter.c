/* SPDX-License-Identifier: ISC */
/*
 * The meter: finds the JSON texts in an answer and reduces their counts to one
 * form. A repeated count is a running total: the latest is right, even if the
 * answer is cut off after it.
 */
#include "body/meter.h"

#define FIELD "data:"
#define FIELD_LEN (sizeof(FIELD) - 1)
#define FIELD_OTHER (FIELD_LEN + 1)

void
meter_begin(struct meter *m, enum meter_format format)
{
	memset(m, 0, sizeof(*m));
	m->format = format;
	meter_json_begin(&m->json);
}

enum meter_format
meter_format_of(struct span type)
{
	const uint8_t *semi;

	if (type.len != 0 && (semi = memchr(type.p, ';', type.len)) != NULL)
		type.len = (size_t)(semi - type.p);
	while (type.len != 0 && type.p[type.len - 1] == ' ')
		type.len--;
	if (span_ieq(type, SPAN("text/event-stream")))
		return METER_SSE;
	if (span_ieq(type, SPAN("application/json")))
		return METER_JSON;
	if (span_ieq(type, SPAN("application/vnd.amazon.eventstream")))
		return METER_AWS;
	return METER_NONE;
}

/* End a line. An empty one ends the event. LF, CR and CRLF all end lines. */
static void
meter_line_end(struct meter *m)
{
	if (!m->any)
		meter_json_begin(&m->json);
	else if (m->field == FIELD_LEN)
		/* Lines of an event's data are joined with LF. */
		meter_json_feed(m, SPAN("\n"));
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
		meter_json_feed(m, span_of(from, (size_t)(p - from)));
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

void
meter_feed(struct meter *m, struct span s)
{
	switch (m->format) {
	case METER_SSE:
		meter_sse(m, s);
		break;
	case METER_JSON:
		meter_json_feed(m, s);
		break;
	case METER_AWS:
		meter_aws_feed(m, s);
		break;
	case METER_NONE:
		break;
	}
}

static uint64_t
meter_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void
meter_read(const struct meter *m, struct meter_usage *u)
{
	const uint64_t *c = m->counts;
	uint64_t in;

	*u = (struct meter_usage){.seen = m->have != 0};
	/*
	 * Unless the answer counts cached tokens separately, the input includes
	 * them.
	 */
	u->cache_read = c[METER_READ] + c[METER_CACHED];
	u->cache_write = c[METER_WRITE];
	/* Some gateways send both names. */
	in = c[(m->have >> METER_INPUT & 1) != 0 ? METER_INPUT : METER_PROMPT];
	u->in = meter_less(in + c[METER_TOOL_PROMPT], c[METER_CACHED]);
	u->out = c[METER_OUTPUT] + c[METER_CANDIDATES] + c[METER_THOUGHTS];
	u->reasoning = c[METER_REASONING] + c[METER_THOUGHTS];
	memcpy(u->model, m->model, sizeof(u->model));
}
