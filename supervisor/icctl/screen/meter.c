/* SPDX-License-Identifier: ISC */
/*
 * The bottom line has the cost of the session, or the limit that is nearly
 * reached. A viewer that icsupervisor started gets alarms and warnings as
 * messages, through a pipe; one that attached has them from here.
 */
#include "icctl/screen/meter.h"

#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "common/span.h"
#include "icctl/icctl.h"
#include "icctl/screen/viewer.h"

#define METER_TEXT 48U
#define METER_WARNS 80 /* percent, if the session names no other */

static size_t meter_alarms; /* that the person was told */

static double
number(json_object *o, const char *key)
{
	json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_double(v)
						     : 0;
}

/* Put the limit into the text, if it is used up more than the `most` so far. */
static void
meter_limit(json_object *limits, const char *key, const char *unit,
    double *most, char text[METER_TEXT])
{
	json_object *row = NULL;
	double used, max;

	if (!json_object_object_get_ex(limits, key, &row))
		return;
	used = number(row, "used");
	max = number(row, "max");
	if (max <= 0 || 100 * used / max < *most)
		return;
	*most = 100 * used / max;
	snprintf(text, METER_TEXT, "%.*f of %.6g %s",
	    strcmp(unit, "USD") == 0 ? amount_places(used, 2) : 0, used, max,
	    unit);
}

static void
meter_budget(json_object *budget)
{
	static const char *const keys[][2] = {
	    {"maxEstimatedCostUsd", "USD"},
	    {"maxTotalTokens", "tokens"},
	    {"maxSteps", "steps"},
	    {"maxSessionSeconds", "seconds"},
	};
	json_object *limits = NULL, *row = NULL;
	double most = number(budget, "warnThresholdPercent"), cost = 0;
	char text[METER_TEXT] = "";

	if (!json_object_object_get_ex(budget, "limits", &limits))
		return;
	if (json_object_object_get_ex(limits, keys[0][0], &row) &&
	    number(row, "used") > 0)
		snprintf(text, sizeof(text), "%.*f USD",
		    amount_places(number(row, "used"), 2), number(row, "used"));
	meter_limit(limits, keys[0][0], keys[0][1], &cost, text);
	if (most <= 0)
		most = METER_WARNS;
	for (size_t i = 0; i < nitems(keys); i++)
		meter_limit(limits, keys[i][0], keys[i][1], &most, text);
	draw_meter(text);
}

static void
meter_alarm(json_object *o)
{
	meter_alarms++;
	if (viewer.how.attached)
		says("ALARM of %s, %s: %s", icctl_text(o, "who"),
		    icctl_text(o, "kind"), icctl_text(o, "text"));
}

void
meter_reply(json_object *o)
{
	json_object *v = NULL;

	if (!viewer.how.screen)
		return;
	if (json_object_object_get_ex(o, "budget", &v))
		meter_budget(v);
	if (json_object_object_get_ex(o, "alarms", &v))
		for (size_t i = meter_alarms; i < json_object_array_length(v);
		     i++)
			meter_alarm(json_object_array_get_idx(v, i));
}

void
meter_event(const char *event, json_object *o)
{
	json_object *v = NULL;

	if (!viewer.how.screen)
		return;
	if (strcmp(event, "alarm") == 0)
		meter_alarm(o);
	if (strcmp(event, "budget") == 0 && viewer.how.attached)
		says("%s", icctl_text(o, "text"));
	if (json_object_object_get_ex(o, "budget", &v))
		meter_budget(v);
}
