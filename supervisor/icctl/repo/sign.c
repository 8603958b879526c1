/* SPDX-License-Identifier: ISC */
/*
 * The program that signs is the user's, outside of every sandbox. It comes from
 * the user's own configuration and never from the repository's, which an agent
 * may have written; only the name of the key may stand there.
 */
#include "icctl/repo/sign.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_until.h"
#include "base/spawn.h"
#include "common/log.h"
#include "common/plural.h"
#include "repo/user.h"

#define SIGN_MS 300000U
#define SIGN_TEXT 65536U
#define SIGN_USER                                                              \
	"^user\\.signingkey$|^gpg\\.format$|^gpg\\..*program$"

extern char **environ;

static struct {
	char program[PATH_MAX], key[PATH_MAX], format[16];
	char top[PATH_MAX], home[PATH_MAX];
	bool yes;
} with;

/* An agent may have worked in the repository, or have a session's home. */
static bool
sign_reached(const char *path)
{
	return paths_under(path, with.top) || paths_under(path, with.home);
}

static void
sign_left(const char *path, const char *why)
{
	fprintf(stderr, "icctl: %s does not count: %s\n", path, why);
}

/* Find the program, in a place that only root or the user can mean. */
static int
sign_program(const char *name, struct fault *fault)
{
	static const char *const dirs[] = {"/usr/bin", "/usr/local/bin", "/bin"};
	const char *home = getenv("HOME");

	if (strncmp(name, "~/", 2) == 0 && home != NULL) {
		snprintf(with.program, sizeof(with.program), "%s%s", home,
		    name + 1);
	} else if (name[0] == '/') {
		(void)strlcpy(with.program, name, sizeof(with.program));
	} else {
		for (size_t i = 0; i < nitems(dirs); i++) {
			snprintf(with.program, sizeof(with.program), "%s/%s",
			    dirs[i], name);
			if (access(with.program, X_OK) == 0)
				break;
		}
	}
	if (sign_reached(with.program))
		return fault_set(fault,
		    "--sign: %s is where an agent may have written", name);
	if (access(with.program, X_OK) == -1)
		return fault_errno(fault, "--sign: %s", name);
	return 0;
}

static int
sign_key(const struct repo_settings *user, const struct repo_settings *own,
    struct fault *fault)
{
	const struct repo_setting *s = repo_settings_last(own, "user.signingkey");
	const char *home = getenv("HOME");

	if (s == NULL)
		s = repo_settings_last(user, "user.signingkey");
	if (s == NULL || s->value == NULL || s->value[0] == '\0')
		return fault_set(fault,
		    "--sign: your git has no key to sign with. To name one: "
		    "git config --global user.signingKey KEY");
	if (s->value[0] == '-' || strlen(s->value) >= sizeof(with.key) - 1 ||
	    strncmp(s->value, "key::", 5) == 0 ||
	    strncmp(s->value, "ssh-", 4) == 0)
		return fault_set(fault,
		    "--sign: user.signingKey must be the name of a key, or of "
		    "the file of one");
	if (strncmp(s->value, "~/", 2) == 0 && home != NULL)
		snprintf(with.key, sizeof(with.key), "%.2000s%.2000s", home,
		    s->value + 1);
	else
		(void)strlcpy(with.key, s->value, sizeof(with.key));
	return 0;
}

static int
sign_how(const struct repo_settings *user, const struct repo_settings *own,
    struct fault *fault)
{
	static const struct {
		const char *format, *program, *key, *older;
	} rows[] = {{"openpgp", "gpg", "gpg.openpgp.program", "gpg.program"},
	    {"ssh", "ssh-keygen", "gpg.ssh.program", ""},
	    {"x509", "gpgsm", "gpg.x509.program", ""}};
	const struct repo_setting *s = repo_settings_last(user, "gpg.format");
	const char *format = s == NULL || s->value == NULL ? "openpgp" : s->value;

	for (size_t i = 0; i < nitems(rows); i++) {
		if (strcmp(format, rows[i].format) != 0)
			continue;
		(void)strlcpy(with.format, format, sizeof(with.format));
		s = repo_settings_last(user, rows[i].key);
		if (s == NULL)
			s = repo_settings_last(user, rows[i].older);
		if (sign_key(user, own, fault) == -1)
			return -1;
		return sign_program(s == NULL || s->value == NULL
			? rows[i].program
			: s->value,
		    fault);
	}
	return fault_set(fault, "--sign: gpg.format must be openpgp, ssh or "
				"x509");
}

static int
sign_show(void *arg, const struct repo_signed *list, unsigned n,
    struct fault *fault)
{
	char author[256], subject[256], question[128];
	struct span rest, line, who;

	(void)arg;
	printf("%u commit%s of the agent, to be signed with the key %s "
	       "(%s):\n",
	    n, plural(n), with.key, with.format);
	for (unsigned i = 0; i < n; i++) {
		rest = list[i].commit;
		who = span_of("", 0);
		while (span_line(&rest, &line) && line.len != 0)
			if (span_starts(line, SPAN("author ")))
				who = span_of(line.p + 7, line.len - 7);
		if (!span_line(&rest, &line))
			line = span_of("", 0);
		log_vis(line, subject, sizeof(subject));
		log_vis(who, author, sizeof(author));
		author[strcspn(author, ">") + (strchr(author, '>') != NULL)] =
		    '\0';
		printf("  %.12s %s, by %s\n", list[i].oid, subject, author);
	}
	fflush(stdout);
	if (with.yes)
		return 0;
	snprintf(question, sizeof(question),
	    "Your signature says that you have looked at %s. Sign %s?",
	    n == 1 ? "it" : "them", n == 1 ? "it" : "them");
	if (icctl_confirm(question))
		return 0;
	return fault_set(fault, "nothing was signed, and nothing pulled");
}

static int
sign_run(char *const *argv, struct span payload, struct buf *out,
    struct fault *fault)
{
	static char text[SIGN_TEXT];
	struct spawn s = {.path = with.program,
	    .argv = argv,
	    .envp = environ,
	    .fds = {-1, -1, STDERR_FILENO},
	    .nfds = 3};
	struct spawned sp = SPAWNED_INIT;
	int ends[2], code = 0, status = 0, rv = -1;
	size_t len = 0;

	if ((s.fds[0] = memfd_create("commit", MFD_CLOEXEC)) == -1)
		return fault_errno(fault, "memory");
	if (write(s.fds[0], payload.p, payload.len) != (ssize_t)payload.len ||
	    lseek(s.fds[0], 0, SEEK_SET) == -1 || pipe2(ends, O_CLOEXEC) == -1) {
		close(s.fds[0]);
		return fault_errno(fault, "memory");
	}
	s.fds[1] = ends[1];
	rv = spawn_start(&s, &sp);
	close(ends[1]);
	if (rv == 0)
		rv = spawn_check(&sp);
	if (rv == 0 && !read_until(ends[0], text, sizeof(text), SIGN_MS, &len))
		rv = -1;
	close(ends[0]);
	close(s.fds[0]);
	if (sp.pidfd != -1 && rv == 0)
		(void)spawn_reap(sp.pidfd, true, &code, &status);
	if (sp.pidfd != -1 && rv == 0)
		close(sp.pidfd);
	else
		spawn_stop(&sp, 0);
	if (rv == -1 || status != 0 || len < 20 ||
	    memcmp(text, "-----BEGIN ", 11) != 0)
		return fault_set(fault,
		    "--sign: %s gave no signature with the key %s; its reason "
		    "is above. Nothing was pulled",
		    with.program, with.key);
	buf_add(out, text, len);
	return 0;
}

static int
sign_sign(void *arg, struct span payload, struct buf *out, struct fault *fault)
{
	char base[] = "sign", y[] = "-Y", what[] = "sign", n[] = "-n",
	     git[] = "git", f[] = "-f", opts[] = "-bsau";
	char *const ssh[] = {base, y, what, n, git, f, with.key, NULL};
	char *const gpg[] = {base, opts, with.key, NULL};

	(void)arg;
	return sign_run(
	    strcmp(with.format, "ssh") == 0 ? ssh : gpg, payload, out, fault);
}

const struct repo_signer *
sign_find(const struct icctl *ctl, const struct repo_env *env, const char *into,
    bool yes, struct fault *fault)
{
	static const struct repo_signer signer = {
	    .show = sign_show, .sign = sign_sign};
	static struct repo_settings user, own;
	static struct repo_place place;
	struct repo_user_how how = {.env = env,
	    .home = getenv("HOME"),
	    .place = &place,
	    .branch = "",
	    .own = &own,
	    .reached = sign_reached,
	    .left = sign_left};
	int rv;

	with.yes = yes;
	(void)strlcpy(with.home, ctl->home, sizeof(with.home));
	if (how.home == NULL) {
		fault_set(fault, "--sign: HOME is not set");
		return NULL;
	}
	if (repo_place_open(&place, into, REPO_PLACE_TREE, fault) == -1)
		return NULL;
	(void)strlcpy(with.top, place.top_path, sizeof(with.top));
	rv = repo_settings_ask(
	    &own, env, &place.view, NULL, "^user\\.signingkey$", fault);
	if (rv == 0)
		rv = repo_user_ask(&how, SIGN_USER, &user, fault);
	if (rv == 0)
		rv = sign_how(&user, &own, fault);
	repo_place_close(&place);
	repo_settings_free(&user);
	repo_settings_free(&own);
	return rv == 0 ? &signer : NULL;
}
