/* SPDX-License-Identifier: ISC */
/*
 * Code mode: the model writes a program in JavaScript that calls tools as
 * functions.  Each program runs in a new process of the machine's node, which
 * has no rights but its stubs.
 */
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

struct code_tool {
	const char *server, *name, *description;
	json_object *schema;	/* for the arguments; may be NULL */
};

struct code_result {
	char *text;		/* UTF-8, NUL-terminated; freed by the caller */
	size_t len;
	bool is_error;
};

/*
 * Call a tool.  `args_json` is one JSON object.  Returns text that code_run()
 * frees, or NULL on failure.  A text with `*is_error` set is thrown in the
 * program.
 */
typedef char *code_call_fn(void *arg, const char *server, const char *tool,
    const char *args_json, bool *is_error);

/*
 * Look for node, once.  Returns true if programs can be run; otherwise `*why`,
 * if not NULL, is a sentence that says why not.
 */
bool code_available(const char **why);
/*
 * Run a program.  Returns 0 with `out` filled in, also if the program failed;
 * or -1 with errno set if there was nothing to run it with.
 */
int code_run(const char *source, const struct code_tool *tools, size_t ntools,
    code_call_fn *call, void *arg, struct code_result *out);
/*
 * End the program that is running, if there is one.  Async-signal-safe: for
 * handlers and for code_call_fn.
 */
void code_cancel(void);
/*
 * Returns the description of the tool execute_code for the model, to be freed
 * by the caller; or NULL with errno set.
 */
char *code_describe(const struct code_tool *tools, size_t ntools);

#endif
