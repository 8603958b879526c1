/* SPDX-License-Identifier: ISC */
/* The page of `icctl report`; private to report.c and report_page.c. */
#ifndef PAST_REPORT_H
#define PAST_REPORT_H

#include "icctl/past/past.h"

#define PAGE_SECTIONS 13U
#define PAGE_ROWS 5000U /* rows of a section */

struct page_section {
	FILE *to; /* NULL: it has no row yet */
	char *text;
	size_t len;
	uint64_t n; /* records, of which PAGE_ROWS are shown */
};

struct page {
	const struct past_session *session;
	bool arguments, with_messages;
	struct past_fold fold;
	struct page_section sections[PAGE_SECTIONS], messages;
	uint64_t counts[REPORT_EVENTS], others, bad;
};

/* report_page.c */
/* Returns the section that shows records of the event, or -1. */
int page_section_of(enum report_event);
void page_put(struct page *, FILE *);

#endif
