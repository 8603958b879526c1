/* SPDX-License-Identifier: ISC */
/*
 * The tables of body/meter_ctx.h, made from the public API references of
 * providers, gateways and servers of models, and from answers that were
 * reported as not counted. A member without a row is ignored.
 */
#include "body/meter_ctx.h"

struct ctx_row {
	const char *key; /* folded */
	uint8_t is;
};

/* clang-format off */
static const struct ctx_row root_rows[] = {
	/* Objects and lists that hold the usage, or say that all is said. */
	{"message", MC_ROOT}, {"response", MC_ROOT}, {"choices", MC_ROOT},
	{"candidates", MC_ROOT}, {"data", MC_ROOT}, {"result", MC_ROOT},
	{"chunk", MC_ROOT}, {"body", MC_ROOT}, {"xgroq", MC_ROOT},
	{"delta", MC_DELTA},
	{"usage", MC_USAGE}, {"usagemetadata", MC_USAGE},
	{"amazonbedrockinvocationmetrics", MC_USAGE},
	{"meta", MC_USAGE}, {"timings", MC_USAGE}, {"tokenusage", MC_USAGE},
	{"results", MC_ROOT}, {"stats", MC_USAGE}, {"metrics", MC_USAGE},
	{"interaction", MC_ROOT},			/* Gemini */
	{"model", MC_MODEL}, {"modelversion", MC_MODEL},
	{"finishreason", MC_FINISH}, {"stopreason", MC_FINISH},
	{"status", MC_STATUS}, {"done", MC_DONE},
	{"speed", MC_SPEED}, {"servicetier", MC_TIER},
	{"inferencegeo", MC_GEO}, {"performanceconfig", MC_SPEED},
	/* Text, and what stands for a text that is not shown. */
	{"signature", MC_TEXT},
	{"content", MC_TEXT}, {"text", MC_WHOLE}, {"thinking", MC_TEXT},
	{"reasoning", MC_TEXT}, {"reasoningcontent", MC_TEXT},
	{"refusal", MC_TEXT}, {"partialjson", MC_TEXT},
	{"arguments", MC_TEXT}, {"toolcalls", MC_TEXT},
	{"functioncall", MC_TEXT}, {"contentblock", MC_TEXT},
	{"tooluse", MC_TEXT}, {"start", MC_TEXT},
	{"completion", MC_TEXT}, {"generation", MC_TEXT},
	{"item", MC_WHOLE}, {"part", MC_WHOLE}, {"output", MC_WHOLE},
	/* Counts that stand beside the answer, without an object. */
	{"promptevalcount", MC_COUNT + METER_PROMPT},	/* Ollama */
	{"evalcount", MC_COUNT + METER_OUTPUT},
	{"tokensevaluated", MC_COUNT + METER_PROMPT},	/* llama.cpp */
	{"tokenspredicted", MC_COUNT + METER_OUTPUT},
	{"prompttokencount", MC_COUNT + METER_PROMPT},	/* Llama on Bedrock */
	{"generationtokencount", MC_COUNT + METER_OUTPUT},
	{"inputtexttokencount", MC_COUNT + METER_PROMPT}, /* Titan */
	{"inputtokencount", MC_COUNT + METER_PROMPT},	/* watsonx */
	{"generatedtokencount", MC_COUNT + METER_OUTPUT},
	{"inputtokens", MC_COUNT + METER_INPUT},
	{"outputtokens", MC_COUNT + METER_OUTPUT},
	{"prompttokens", MC_COUNT + METER_PROMPT},
	{"completiontokens", MC_COUNT + METER_OUTPUT},
	{"totaltokens", MC_COUNT + METER_TOTAL},
	{"cachereadinputtokens", MC_COUNT + METER_READ},
	{"cachecreationinputtokens", MC_COUNT + METER_WRITE},
};

static const struct ctx_row usage_rows[] = {
	{"inputtokens", MC_COUNT + METER_INPUT},
	{"inputtokencount", MC_COUNT + METER_PROMPT},	/* Bedrock */
	{"prompttokens", MC_COUNT + METER_PROMPT},
	{"prompttokencount", MC_COUNT + METER_PROMPT},	/* Gemini */
	{"promptn", MC_COUNT + METER_PROMPT},		/* llama.cpp */
	{"tooluseprompttokencount", MC_COUNT + METER_TOOL_PROMPT},
	{"outputtokens", MC_COUNT + METER_OUTPUT},
	{"outputtokencount", MC_COUNT + METER_OUTPUT},
	{"completiontokens", MC_COUNT + METER_OUTPUT},
	{"generatedtokens", MC_COUNT + METER_OUTPUT},
	{"generatedtokencount", MC_COUNT + METER_OUTPUT},
	/* Gemini's interactions, LM Studio: thoughts beside or in it. */
	{"totalinputtokens", MC_COUNT + METER_PROMPT},
	{"totaloutputtokens", MC_COUNT + METER_CANDIDATES},
	{"totalthoughttokens", MC_COUNT + METER_THOUGHTS},
	{"totalcachedtokens", MC_COUNT + METER_CACHED},
	{"totaltoolusetokens", MC_COUNT + METER_TOOL_PROMPT},
	{"reasoningoutputtokens", MC_COUNT + METER_REASONING},
	{"predictedn", MC_COUNT + METER_OUTPUT},
	{"candidatestokencount", MC_COUNT + METER_CANDIDATES},
	{"responsetokencount", MC_COUNT + METER_CANDIDATES},
	{"thoughtstokencount", MC_COUNT + METER_THOUGHTS},
	{"reasoningtokens", MC_COUNT + METER_REASONING},
	{"totaltokens", MC_COUNT + METER_TOTAL},
	{"totaltokencount", MC_COUNT + METER_TOTAL},
	{"cachereadinputtokens", MC_COUNT + METER_READ},
	{"cachereadinputtokencount", MC_COUNT + METER_READ},
	{"cachereadtokens", MC_COUNT + METER_READ},
	{"cachecreationtokens", MC_COUNT + METER_WRITE},
	{"cachecreationinputtokens", MC_COUNT + METER_WRITE},
	{"cachewriteinputtokens", MC_COUNT + METER_WRITE},
	{"cachewriteinputtokencount", MC_COUNT + METER_WRITE},
	{"cachewritetokens", MC_COUNT + METER_WRITE},
	{"cachedcontenttokencount", MC_COUNT + METER_CACHED},
	{"cachedtokens", MC_COUNT + METER_CACHED},
	{"cachedinputtokens", MC_COUNT + METER_CACHED},
	{"cachedprompttexttokens", MC_COUNT + METER_CACHED},	/* xAI */
	{"numcachedtokens", MC_COUNT + METER_CACHED},	/* Mistral */
	{"promptcachehittokens", MC_COUNT + METER_CACHED},	/* DeepSeek */
	{"cachecreation", MC_WRITES},
	{"cachedetails", MC_TTL_KINDS},
	{"prompttokensdetails", MC_IN_DETAILS},
	{"prompttokendetails", MC_IN_DETAILS},
	{"inputtokensdetails", MC_IN_DETAILS},
	{"inputtokendetails", MC_IN_DETAILS},
	{"completiontokensdetails", MC_OUT_DETAILS},
	{"completiontokendetails", MC_OUT_DETAILS},
	{"outputtokensdetails", MC_OUT_DETAILS},
	{"outputtokendetails", MC_OUT_DETAILS},
	{"tooluseprompttokensdetails", MC_IN_DETAILS},
	{"candidatestokensdetails", MC_OUT_DETAILS},
	{"responsetokensdetails", MC_OUT_DETAILS},
	{"servertooluse", MC_USAGE},
	{"websearchrequests", MC_COUNT + METER_SEARCHES},
	{"numsearchqueries", MC_COUNT + METER_SEARCHES},	/* Perplexity */
	{"citationtokens", MC_COUNT + METER_TOOL_PROMPT},
	{"numsourcesused", MC_COUNT + METER_SEARCHES},	/* xAI */
	{"iterations", MC_USAGE},
	{"tokens", MC_USAGE}, {"billedunits", MC_USAGE},	/* Cohere */
	{"usage", MC_USAGE},
	{"cost", MC_COST}, {"totalcost", MC_COST},
	{"costdetails", MC_COST},
	{"speed", MC_SPEED}, {"servicetier", MC_TIER}, {"traffictype", MC_TIER},
	{"inferencegeo", MC_GEO},
};

/* OpenAI's objects, and the entries of Gemini's lists. */
static const struct ctx_row in_rows[] = {
	{"cachedtokens", MC_COUNT + METER_CACHED},
	{"cachecreationtokens", MC_COUNT + METER_WRITTEN},
	{"cachewritetokens", MC_COUNT + METER_WRITTEN},
	{"cachedcreationtokens", MC_COUNT + METER_WRITTEN},	/* New API */
	{"cachecreationinputtokens", MC_COUNT + METER_WRITTEN},
	{"cachecreationtokendetails", MC_WRITES},
	{"cachecreation", MC_WRITES},
	{"audiotokens", MC_COUNT + METER_AUDIO_IN},
	{"modality", MC_KIND},
	{"tokencount", MC_ENTRY},
};

static const struct ctx_row out_rows[] = {
	{"reasoningtokens", MC_COUNT + METER_REASONING},
	{"thinkingtokens", MC_COUNT + METER_REASONING},
	{"audiotokens", MC_COUNT + METER_AUDIO_OUT},
	{"modality", MC_KIND},
	{"tokencount", MC_ENTRY},
};

static const struct ctx_row tier_rows[] = {
	{"type", MC_TIER},
};

static const struct ctx_row speed_rows[] = {
	{"latency", MC_SPEED},
};

/* The second: billed by the maker of the model, for a key of the user's own. */
static const struct ctx_row cost_rows[] = {
	{"totalcost", MC_COST},
	{"upstreaminferencecost", MC_COST},
};

static const struct ctx_row writes_rows[] = {
	{"ephemeral5minputtokens", MC_COUNT + METER_WRITE_5M},
	{"ephemeral1hinputtokens", MC_COUNT + METER_WRITE_1H},
};

static const struct ctx_row ttl_rows[] = {
	{"ttl", MC_KIND},
	{"inputtokens", MC_ENTRY},
};

/* Members with another name are passed through: see meter_member(). */
static const struct ctx_row part_rows[] = {
	{"text", MC_TEXT}, {"content", MC_TEXT}, {"thinking", MC_TEXT},
	{"reasoning", MC_TEXT}, {"reasoningcontent", MC_TEXT},
	{"refusal", MC_TEXT}, {"partialjson", MC_TEXT}, {"delta", MC_TEXT},
	{"arguments", MC_ALL}, {"args", MC_ALL}, {"input", MC_ALL},
	{"parameters", MC_ALL}, {"transcript", MC_TEXT},
	{"summary", MC_TEXT}, {"code", MC_TEXT}, {"output", MC_TEXT},
	{"value", MC_TEXT}, {"name", MC_TEXT},
	{"signature", MC_TEXT}, {"thoughtsignature", MC_TEXT},
	{"encryptedcontent", MC_TEXT},
};

static const struct {
	const struct ctx_row *rows;
	size_t n;
} ctx_tables[] = {
#define ROWS(r) {r, nitems(r)}
	[MC_ROOT] = ROWS(root_rows),
	[MC_USAGE] = ROWS(usage_rows),
	[MC_IN_DETAILS] = ROWS(in_rows),
	[MC_OUT_DETAILS] = ROWS(out_rows),
	[MC_WRITES] = ROWS(writes_rows),
	[MC_TTL_KINDS] = ROWS(ttl_rows),
	[MC_SPEED] = ROWS(speed_rows),
	[MC_TIER] = ROWS(tier_rows),
	[MC_COST] = ROWS(cost_rows),
	[MC_PART] = ROWS(part_rows),
#undef ROWS
};
/* clang-format on */

/* Returns the length of the folded name, or 0 if it is in no table. */
static size_t
ctx_fold(struct span key, char dst[METER_MAX_KEY + 1])
{
	size_t len = 0;

	if (key.len > METER_MAX_KEY)
		return 0;
	for (size_t i = 0; i < key.len; i++) {
		uint8_t c = key.p[i];

		if (c == '_' || c == '-')
			continue;
		dst[len++] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	return len;
}

uint8_t
meter_member(uint8_t in, struct span key)
{
	uint8_t other = in == MC_PART  ? MC_PART
			: in == MC_ALL ? MC_ALL
				       : MC_NONE;
	char name[METER_MAX_KEY + 1];
	const struct ctx_row *row;
	size_t n;

	if (in >= nitems(ctx_tables) || (n = ctx_fold(key, name)) == 0)
		return other;
	for (size_t i = 0; i < ctx_tables[in].n; i++) {
		row = &ctx_tables[in].rows[i];
		/* Most names differ in their first letter. */
		if (row->key[0] == name[0] && strlen(row->key) == n &&
		    memcmp(row->key, name, n) == 0)
			return row->is;
	}
	return other;
}
