/* SPDX-License-Identifier: ISC */
#include "icctl/screen/offer.h"

#include <sys/mman.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/hidden.h"
#include "common/net/link.h"
#include "common/plural.h"
#include "icctl/screen/panel.h"
#include "icctl/screen/viewer.h"

static struct {
	struct buf text;
	uint8_t kind;
} offer_env;

int
offer_new(const struct msg_OFFER *m)
{
	char told[512];
	struct span host;

	if (m->text.len == 0 || hidden_in(m->text) ||
	    (m->kind == PROTO_OFFER_LINK && !link_ok(m->text)))
		return -1;
	buf_free(&offer_env.text);
	buf_init(&offer_env.text, PROTO_MAX_OFFER + 1);
	buf_addspan(&offer_env.text, m->text);
	offer_env.kind = m->kind;
	host = m->kind == PROTO_OFFER_LINK ? link_host(m->text) : SPAN("");
	if (m->kind == PROTO_OFFER_COPY)
		snprintf(told, sizeof(told), "%s c: copy %zu byte%s?",
		    viewer.key, m->text.len, plural(m->text.len));
	else
		snprintf(told, sizeof(told), "%s o: open %.*s?", viewer.key,
		    host.len > 300 ? 300 : (int)host.len, (const char *)host.p);
	says_brief(told);
	return 0;
}

void
offer_show(void)
{
	const char *dir = viewer.dir != NULL ? viewer.dir : "";
	int fd;

	if (buf_span(&offer_env.text).len == 0) {
		says_brief("the agent offers nothing");
		return;
	}
	fd = memfd_create("offer", MFD_CLOEXEC);
	if (fd == -1 || write(fd, &offer_env.kind, 1) != 1 ||
	    span_write(fd, span_of(dir, strlen(dir) + 1)) == -1 ||
	    span_write(fd, buf_span(&offer_env.text)) == -1 ||
	    lseek(fd, 0, SEEK_SET) == -1)
		says_brief("the offer cannot be shown: out of memory");
	else
		panel_command(OFFER_PANEL, fd);
	if (fd != -1)
		close(fd);
	buf_free(&offer_env.text);
}
