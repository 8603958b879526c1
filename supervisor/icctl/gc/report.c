/* SPDX-License-Identifier: ISC */
/* The words of `icctl gc`: a line for each session that it names, a summary. */
#include "icctl/gc/gc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/loop.h"
#include "common/plural.h"

#define REPORT_SLOW_US 1000000U
#define REPORT_EVERY_US 200000U

static struct {
	uint64_t begun, last;
	bool shown;
} progress;

const char *
gc_size(uint64_t bytes, char dst[32])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double n = (double)bytes / 1024;
	size_t i = 0;

	for (; n >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		n /= 1024;
	snprintf(dst, 32, "%.*f %s", i == 0 ? 0 : 1, n, units[i]);
	return dst;
}

void
gc_progress(struct gc *g, size_t row, uint64_t more)
{
	uint64_t now = clock_mono_us();
	char size[32];

	if (g->ctl->json || !isatty(STDERR_FILENO))
		return;
	if (progress.begun == 0)
		progress.begun = now;
	if (now - progress.begun < REPORT_SLOW_US ||
	    now - progress.last < REPORT_EVERY_US)
		return;
	progress.last = now;
	progress.shown = true;
	fprintf(stderr, "\rsession %zu of %zu, %s so far ", row + 1, g->n,
	    gc_size(g->bytes + more, size));
}

void
gc_progress_end(void)
{
	if (progress.shown)
		fprintf(stderr, "\r%40s\r", "");
	progress.shown = false;
}

void
gc_say(struct gc *g, const char *what, const char *name, uint64_t bytes,
    const char *why)
{
	json_object *list, *o;
	char size[32];

	gc_progress_end();
	if (g->ctl->json) {
		if (!json_object_object_get_ex(g->json, what, &list)) {
			list = json_object_new_array();
			json_object_object_add(g->json, what, list);
		}
		o = json_object_new_object();
		put_str(o, "session", name);
		put_str(o, "why", why);
		put_int(o, "bytes", (int64_t)bytes);
		json_object_array_add(list, o);
		return;
	}
	printf("%-8s ", what);
	icctl_put_str(name);
	if (bytes != 0)
		printf("  %s", gc_size(bytes, size));
	fputs("  ", stdout);
	icctl_put_str(why);
	putchar('\n');
}

void
gc_summary(struct gc *g)
{
	const char *would = g->dry ? " would be" : "";
	char size[32];

	gc_progress_end();
	if (g->ctl->json) {
		put_bool(g->json, "ok", g->failed == 0);
		put_bool(g->json, "dryRun", g->dry);
		put_int(g->json, "living", g->living);
		put_int(g->json, "left", g->left);
		put_int(g->json, "links", g->links);
		put_int(g->json, "containers", g->containers);
		put_int(g->json, "bytes", (int64_t)g->bytes);
		icctl_put_json(g->json);
		return;
	}
	printf("%u session%s%s removed", g->removed, plural(g->removed), would);
	if (g->crashed != 0)
		printf(", %u%s marked as crashed", g->crashed, would);
	if (g->links != 0)
		printf(
		    ", %u link%s%s removed", g->links, plural(g->links), would);
	if (g->containers != 0)
		printf(", %u container%s%s removed", g->containers,
		    plural(g->containers), would);
	printf("; %s%s freed\n", gc_size(g->bytes, size), would);
	if (g->left != 0 || g->living != 0)
		printf(
		    "%u ended session%s stay%s (see --older-than and --keep); "
		    "%u run%s\n",
		    g->left, plural(g->left), g->left == 1 ? "s" : "",
		    g->living, g->living == 1 ? "s" : "");
}
