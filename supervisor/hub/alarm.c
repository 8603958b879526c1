/* SPDX-License-Identifier: ISC */
/* Alarms: the session keeps the last ones, and its watchers are told. */
#include "core/sup.h"

#include "common/log.h"
#include "hub/control.h"

void
sup_alarm_of(struct span who, struct span kind, struct span text)
{
	unsigned i =
	    sup.nalarms < SUP_MAX_ALARMS ? sup.nalarms++ : SUP_MAX_ALARMS - 1;

	log_vis_again(who, sup.alarms[i].who, sizeof(sup.alarms[i].who));
	log_vis_again(kind, sup.alarms[i].kind, sizeof(sup.alarms[i].kind));
	log_vis_again(text, sup.alarms[i].text, sizeof(sup.alarms[i].text));
	sup_warn("ALARM of %s, %s: %s", sup.alarms[i].who, sup.alarms[i].kind,
	    sup.alarms[i].text);
	control_alarm(
	    sup.alarms[i].who, sup.alarms[i].kind, sup.alarms[i].text);
}

void
sup_alarm(const char *who, const char *kind, const char *text)
{
	sup_alarm_of(span_str(who), span_str(kind), span_str(text));
}
