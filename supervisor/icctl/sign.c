/* SPDX-License-Identifier: ISC */
/*
 * `icctl sign`: signs the approval of one pending call with a key of ssh's. The
 * call may have come through machines that nobody trusts: it is shown whole,
 * and the digest that is signed is computed here. Server, tool and arguments,
 * which it is computed from, are shown once more, in a form that nothing else
 * in the call changes.
 */
#include "icctl/icctl.h"

#include <sys/mman.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/signed.h"
#include "base/spawn.h"
#include "common/json/json.h"
#include "common/loop.h"
#include "common/sha256.h"
#include "common/wordlist.h"
#include "icctl/hold/hold_view.h"
#include "icctl/hold/hold_view_text.h"
#include "icctl/sign_file.h"
#include "icctl/words.h"

#define SIGN_HOLD (8U << 20)  /* bytes of a file with a call */
#define SIGN_POOL (64U << 20) /* memory for its arguments */
#define SIGN_MINUTES 10U
#define SIGN_LINES 7U

/* Returns the call of a file, or of a line that a hub prints; or NULL. */
static json_object *
sign_hold_file(const char *path)
{
	char *text = malloc(SIGN_HOLD);
	json_object *o = NULL, *hold = NULL;

	if (text == NULL || sign_file_read(path, text, SIGN_HOLD) == -1) {
		free(text);
		return NULL;
	}
	o = json_tokener_parse(text);
	free(text);
	if (json_object_is_type(o, json_type_object) &&
	    !json_object_object_get_ex(o, "hold", &hold))
		hold = o;
	hold = json_object_is_type(hold, json_type_object)
		   ? json_object_get(hold)
		   : NULL;
	json_object_put(o);
	if (hold == NULL)
		warnx("%s: is no pending call, as icctl --json show or icctl "
		      "--json hub prints it",
		    path);
	return hold;
}

/*
 * Compute the digest of what is shown: [server, tool, arguments]. Returns false
 * if that is not the digest that the session goes by.
 */
static bool
sign_digest(json_object *hold, char hex[SHA256_HEX])
{
	uint8_t sum[SHA256_SIZE];
	struct buf b;
	bool good;

	buf_init(&b, 65536);
	buf_addc(&b, '[');
	(void)json_write_string(&b, get_span(hold, "server"));
	buf_addc(&b, ',');
	(void)json_write_string(&b, get_span(hold, "tool"));
	buf_addc(&b, ',');
	good = buf_check(&b) == 0;
	if (good)
		sha256_spans((struct span[]){buf_span(&b),
				 get_span(hold, "arguments"), SPAN("]")},
		    3, sum);
	buf_free(&b);
	return good &&
	       strcmp(sha256_hex(sum, hex), icctl_text(hold, "digest")) == 0;
}

/* Split the session's text into the values of its lines. */
static bool
sign_values(char *text, char *values[SIGN_LINES])
{
	char *line = strchr(text, '\n');

	for (unsigned i = 0; i < SIGN_LINES; i++) {
		if (line == NULL || (line = strchr(line + 1, ' ')) == NULL)
			return false;
		values[i] = line + 1;
		if ((line = strchr(line, '\n')) == NULL)
			return false;
	}
	for (unsigned i = 0; i < SIGN_LINES; i++)
		values[i][strcspn(values[i], "\n")] = '\0';
	return true;
}

/*
 * Compose the text anew from the values of the session's own, with the call and
 * the digest that were shown; they must be the same. Returns 0, or -1.
 */
static int
sign_compose(json_object *hold, const char *digest, struct buf *b)
{
	const char *given = icctl_text(hold, "toSign");
	char *copy = strdup(given), *v[SIGN_LINES];
	struct signed_answer a;
	int rv = -1;

	if (copy != NULL && sign_values(copy, v)) {
		a = (struct signed_answer){.host = v[0],
		    .boot = v[1],
		    .session = v[2],
		    .nonce = v[3],
		    .id = icctl_text(hold, "id"),
		    .digest = digest,
		    .verdict = "approve"};
		if (signed_compose(b, &a) == 0 && span_is(buf_span(b), given)) {
			fprintf(stderr, "  of session %s on %s\n", a.session,
			    a.host);
			rv = 0;
		}
	}
	free(copy);
	if (rv == -1)
		warnx("the session's text to sign does not belong to the call "
		      "that was shown: nothing is signed");
	return rv;
}

/*
 * Show what the digest is of, and nothing else: the call's view also has what a
 * machine on the way may have made up. Server and tool come last, so that long
 * arguments do not push them out of sight. Returns 0, or -1.
 */
static int
sign_bound(json_object *hold)
{
	struct hold_text t = {.out = stderr,
	    .flags = icctl_visible(),
	    .full = true,
	    .id = get_span(hold, "id")};
	struct value_pool *pool = value_pool_new(SIGN_POOL);
	json_object *none = json_object_new_array();
	const struct value *root = NULL;

	if (pool != NULL && none != NULL)
		root = json_read(pool, get_span(hold, "arguments"), NULL);
	if (root != NULL && root->type == VALUE_OBJECT) {
		fputs("\nThis is what is signed. The rest above is not: a "
		      "machine on the way could have made it up.\n",
		    stderr);
		hold_text_arguments(&t, root, none);
		fputs(root->child == NULL ? "  no arguments\n" : "", stderr);
		fputs("  signs: ", stderr);
		hold_text_quoted(&t, get_span(hold, "server"));
		fputs(" / ", stderr);
		hold_text_quoted(&t, get_span(hold, "tool"));
		fputc('\n', stderr);
	} else {
		t.left_out = true;
	}
	json_object_put(none);
	value_pool_free(pool);
	return t.left_out ? -1 : 0;
}

/* Show the call. Returns 0 if it may be signed, or an exit status. */
static int
sign_show(json_object *hold, char digest[SHA256_HEX])
{
	if (icctl_text(hold, "toSign")[0] == '\0') {
		warnx("this session takes answers without signatures: icctl "
		      "approve");
		return ICCTL_FAILED;
	}
	if (get_true(hold, "question")) {
		warnx("a server's question is not signed: it can only be "
		      "declined");
		return ICCTL_FAILED;
	}
	if (!hold_view(stderr, hold,
		words_given("--full") ? HOLD_VIEW_FULL : HOLD_VIEW_WHOLE,
		icctl_visible())) {
		warnx("parts of it were left out, so it is not signed: give "
		      "--full");
		return ICCTL_FAILED;
	}
	if (!sign_digest(hold, digest)) {
		warnx("its digest is not that of what was shown, so it is not "
		      "signed: it has more than that, such as links on the "
		      "way to a path, or somebody has changed it");
		return ICCTL_FAILED;
	}
	if (sign_bound(hold) == -1) {
		warnx("its arguments cannot be shown whole, so it is not "
		      "signed");
		return ICCTL_FAILED;
	}
	return 0;
}

/* Returns 0 if the person agrees, or an exit status. */
static int
sign_agreed(const char *digest)
{
	const char *given = words_option("--digest");

	if (given != NULL) {
		if (strcasecmp(given, digest) == 0)
			return 0;
		warnx("the call has another digest than --digest");
		return ICCTL_FAILED;
	}
	if (!isatty(STDIN_FILENO)) {
		warnx("sign asks on a terminal; in a script, --digest names "
		      "the call");
		return ICCTL_USAGE;
	}
	if (icctl_confirm_on(stderr, "Sign the approval of this call?"))
		return 0;
	fputs("Nothing was signed.\n", stderr);
	return ICCTL_FAILED;
}

/* Ask the person for a line. Returns it, or `dflt` for an empty one. */
static const char *
sign_line(const char *what, const char *dflt, char *dst, size_t cap)
{
	fprintf(stderr, "%s [%s]: ", what, dflt);
	if (fgets(dst, (int)cap, stdin) == NULL)
		return NULL;
	dst[strcspn(dst, "\n")] = '\0';
	return dst[0] == '\0' ? dflt : dst;
}

/*
 * Ask for the name and for the key, unless the options have them. Returns 0, or
 * an exit status.
 */
static int
sign_who(const char **name, const char **key)
{
	static char named[SIGNED_NAME], typed[PATH_MAX], path[2 * PATH_MAX];
	const char *user = getenv("USER"), *home = getenv("HOME");

	if ((*name == NULL || *key == NULL) && !icctl_person())
		return words_usage();
	if (*name == NULL &&
	    (*name = sign_line("Your name in the file of approvers",
		 user == NULL ? "" : user, named, sizeof(named))) == NULL)
		return ICCTL_FAILED;
	if (*key != NULL)
		return 0;
	if ((*key = sign_line("Your key of ssh's", "~/.ssh/id_ed25519", typed,
		 sizeof(typed))) == NULL)
		return ICCTL_FAILED;
	if (strncmp(*key, "~/", 2) == 0 && home != NULL) {
		snprintf(path, sizeof(path), "%.4095s%s", home, *key + 1);
		*key = path;
	}
	return 0;
}

/* Have ssh-keygen sign the text. Returns the length of `armor`, or 0. */
static size_t
sign_run(struct span text, const char *key, char *armor, size_t cap)
{
	const char *const words[] = {"ssh-keygen", "-Y", "sign", "-f", key,
	    "-n", SIGNED_NAMESPACE, NULL};
	const int in = memfd_create("text", MFD_CLOEXEC),
		  out = memfd_create("signature", MFD_CLOEXEC);
	struct spawn s = {.path = "/usr/bin/ssh-keygen",
	    .argv = (char *const *)(uintptr_t)words,
	    .fds = {in, out, STDERR_FILENO},
	    .nfds = 3};
	ssize_t n = -1;
	int status;

	if (in == -1 || out == -1 || span_write(in, text) == -1 ||
	    lseek(in, 0, SEEK_SET) == -1) {
		warn("sign");
	} else if ((status = spawn_run(&s)) == -1) {
		warn("%s", s.path);
	} else if (status != 0) {
		warnx("ssh-keygen has not signed it (status %d)", status);
	} else if ((n = pread(out, armor, cap, 0)) <= 0 || (size_t)n == cap) {
		warnx("ssh-keygen has written no signature");
		n = -1;
	}
	if (in != -1)
		close(in);
	if (out != -1)
		close(out);
	return n < 0 ? 0 : (size_t)n;
}

/* Sign the text and print the signature. Returns an exit status. */
static int
sign_text(struct buf *b, const char *name, const char *key, uint64_t minutes)
{
	const uint64_t expires = clock_wall_us() / 1000000 + minutes * 60;
	char armor[SIGNED_ENTRIES];
	size_t n;

	signed_expires(b, expires);
	if (buf_check(b) == -1 ||
	    (n = sign_run(buf_span(b), key, armor, sizeof(armor))) == 0)
		return ICCTL_FAILED;
	printf("%s %llu\n", name, (unsigned long long)expires);
	(void)fwrite(armor, 1, n, stdout);
	return fflush(stdout) == EOF ? ICCTL_FAILED : ICCTL_OK;
}

static int
sign_call(json_object *hold, uint64_t minutes)
{
	const char *name = words_option("--as"), *key = words_option("--key");
	char digest[SHA256_HEX];
	struct buf b;
	int r;

	buf_init(&b, 8192);
	if ((r = sign_show(hold, digest)) == 0)
		r = sign_compose(hold, digest, &b) == -1 ? ICCTL_FAILED
							 : sign_agreed(digest);
	if (r == 0)
		r = sign_who(&name, &key);
	if (r == 0)
		r = sign_text(&b, name, key, minutes);
	buf_free(&b);
	return r;
}

int
icctl_sign(struct icctl *ctl, int argc, char **argv)
{
	const char *minutes = words_option("--for"),
		   *file = words_option("--hold");
	uint64_t n = SIGN_MINUTES;
	json_object *hold;
	int r;

	if (argc != (file == NULL ? 2 : 1))
		return words_usage();
	if (minutes != NULL &&
	    (span_u64(span_str(minutes), SIGNED_SECONDS / 60, &n) == -1 ||
		n == 0)) {
		warnx("--for takes minutes, from 1 to %d", SIGNED_SECONDS / 60);
		return ICCTL_USAGE;
	}
	if (file == NULL) {
		ctl->waits = argv[1];
		r = icctl_find(ctl);
		ctl->waits = NULL;
		if (r != 0)
			return r;
		hold = icctl_hold_fetch(ctl, argv[1], true);
	} else {
		hold = sign_hold_file(file);
	}
	r = hold == NULL ? ICCTL_FAILED : sign_call(hold, n);
	json_object_put(hold);
	return r;
}
