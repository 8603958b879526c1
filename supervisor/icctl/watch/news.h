/* SPDX-License-Identifier: ISC */
/* How `icctl watch` tells of what nobody is asked about. */
#ifndef WATCH_NEWS_H
#define WATCH_NEWS_H

#include <json-c/json.h>

/* Prints the event of that kind; others print nothing. */
void watch_news(const char *kind, json_object *event);

#endif
