/* SPDX-License-Identifier: ISC */
#include "icctl/policy/compile/command.h"
#include <err.h>
int annotate_main(struct icctl *c, const struct compile_opts *o) { warnx("not yet"); return 1; }
int customize_main(struct icctl *c, const struct compile_opts *o) { warnx("not yet"); return 1; }
int refresh_main(struct icctl *c, const struct compile_opts *o) { warnx("not yet"); return 1; }
