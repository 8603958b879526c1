/* SPDX-License-Identifier: ISC */
/* Reports how much each published port is used, for auditd to record. */
#include "workers/portd/portd.h"

static void
port_tell(struct loop_timer *t)
{
	struct port *p = t->arg;

	if (!p->news)
		return;
	p->news = false;
	worker_send(&portd_env.w, ROLE_AUDIT, 0, MSG_PORT_USE, &p->use, -1);
	loop_timer_set(
	    &portd_env.w.loop, &p->tell, PORTD_TELL_MS, port_tell, p);
}

void
port_news(struct port *p)
{
	p->news = true;
	/* The first use is reported at once, later ones after a while. */
	if (p->tell.at == 0)
		loop_timer_set(&portd_env.w.loop, &p->tell, 1, port_tell, p);
}
