/* SPDX-License-Identifier: ISC */
/* Begins the sandbox of a git that needs little: each mount takes its time. */
#include "box/system/etc.h"
#include "box/system/init.h"

void
box_init_small(struct box *b, enum filter_kind kind, const struct limits *l)
{
	static const char *const devices[] = {
	    "/dev/null", "/dev/zero", "/dev/urandom"};
	static const char *const files[] = {
	    "/etc/ld.so.cache", "/etc/localtime", "/etc/gitconfig"};

	box_apart(b, kind, l, false);
	for (size_t i = 0; i < nitems(devices); i++)
		box_args(b, "--dev-bind", devices[i], devices[i]);
	box_tmpfs(b, "/tmp", l->tmp_mb);
	box_etc_files(b, files, nitems(files));
	box_etc_passwd(b);
}
