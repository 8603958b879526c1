/* SPDX-License-Identifier: ISC */
/*
 * Writes a filter for Docker and Podman. They name system calls, and leave out
 * a name that their libseccomp does not know.
 */
#include "box/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>
#include <seccomp.h>

#include "base/json_put.h"

#define FILTER_ERRNO 0xffffU /* the errno in SCMP_ACT_ERRNO() */

static const char *
operator_of(enum scmp_compare op)
{
	static const char *const names[] = {
	    [SCMP_CMP_NE] = "SCMP_CMP_NE",
	    [SCMP_CMP_EQ] = "SCMP_CMP_EQ",
	    [SCMP_CMP_GE] = "SCMP_CMP_GE",
	    [SCMP_CMP_MASKED_EQ] = "SCMP_CMP_MASKED_EQ",
	};

	return (size_t)op < nitems(names) ? names[op] : NULL;
}

static struct json_object *
condition(const struct scmp_arg_cmp *cmp)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "index", cmp->arg);
	put_int(o, "value", (int64_t)cmp->datum_a);
	put_int(o, "valueTwo", (int64_t)cmp->datum_b);
	put_str(o, "op", operator_of(cmp->op));
	return o;
}

/* A rule with an error as its action. */
static int
add(void *calls, uint32_t action, int nr, unsigned n,
    const struct scmp_arg_cmp *cmp)
{
	struct json_object *o, *names, *args;
	char *name;

	/* A negative number is a call that this machine lacks. */
	if (nr < 0 || (name = seccomp_syscall_resolve_num_arch(
			   SCMP_ARCH_NATIVE, nr)) == NULL)
		return 0;
	o = json_object_new_object();
	names = json_object_new_array();
	args = json_object_new_array();
	json_object_array_add(names, json_object_new_string(name));
	free(name);
	for (unsigned i = 0; i < n; i++) {
		if (operator_of(cmp[i].op) == NULL) {
			json_object_put(names);
			json_object_put(args);
			json_object_put(o);
			errno = EINVAL;
			return -1;
		}
		json_object_array_add(args, condition(&cmp[i]));
	}
	json_object_object_add(o, "names", names);
	put_str(o, "action", "SCMP_ACT_ERRNO");
	put_int(o, "errnoRet", (int64_t)(action & FILTER_ERRNO));
	json_object_object_add(o, "args", args);
	json_object_array_add(calls, o);
	return 0;
}

static const char *
machine(void)
{
	switch (seccomp_arch_native()) {
	case SCMP_ARCH_X86_64:
		return "SCMP_ARCH_X86_64";
	case SCMP_ARCH_AARCH64:
		return "SCMP_ARCH_AARCH64";
	default:
		return NULL;
	}
}

int
filter_json(enum filter_kind kind, struct buf *out)
{
	struct json_object *o = json_object_new_object();
	struct json_object *calls = json_object_new_array();
	struct json_object *machines = json_object_new_array();
	const struct filter_sink to = {.rule = add, .arg = calls};
	int rv = -1;

	put_str(o, "defaultAction", "SCMP_ACT_ALLOW");
	json_object_object_add(o, "architectures", machines);
	json_object_object_add(o, "syscalls", calls);
	if (machine() == NULL) {
		errno = ENOTSUP;
	} else {
		json_object_array_add(
		    machines, json_object_new_string(machine()));
		if (filter_rules(&to, kind) == 0) {
			buf_adds(out, json_object_to_json_string_ext(
					  o, JSON_C_TO_STRING_PLAIN));
			rv = buf_check(out);
		}
	}
	json_object_put(o);
	return rv;
}
