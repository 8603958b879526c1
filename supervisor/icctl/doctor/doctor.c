/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor`: tries everything that sessions need, and says what to do
 * about anything missing, or wrong in the user's files.
 */
#include "icctl/doctor/doctor.h"

#include <sys/stat.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <err.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/confine/secret.h"
#include "common/confine/unveil.h"
#include "common/plural.h"
#include "host/inflight.h"
#include "icctl/words.h"
#include "icctl/wrap.h"

/* Time in which to find those who hold descriptors in flight. */
#define DOCTOR_HOLDERS_MS 5000U

static struct {
	struct icctl *ctl;
	json_object *checks;
	json_object *attacks; /* with --attack, else NULL */
	unsigned bad, wrong, failed;
	bool keyed; /* a key or a login was found */
} doctor_env;

/* Print what was found, and below it the remedy if there is one. */
static void
doctor_line(const char *word, const char *what, const char *found,
    const char *remedy, bool bad)
{
	unsigned cols = wrap_columns(STDOUT_FILENO), used = 28;
	char hang[32];

	if (strlen(what) > 18)
		used += (unsigned)strlen(what) - 18;
	snprintf(hang, sizeof(hang), "%28s", "");
	printf("%-8s %-18s ", word, what);
	wrap_hang(stdout, found, used, hang, cols);
	if (bad) {
		printf("\n%s-> ", hang);
		snprintf(hang, sizeof(hang), "%31s", "");
		wrap_hang(stdout, remedy, 31, hang, cols);
	}
	putchar('\n');
}

static void
check(enum grade g, const char *what, const char *found, const char *remedy)
{
	static const char *const words[] = {
	    "ok", "note", "MISSING", "WRONG", "FAILED"};
	json_object *o;

	doctor_env.bad += g == BAD;
	doctor_env.wrong += g == WRONG;
	doctor_env.failed += g == FAILED;
	if (!doctor_env.ctl->json) {
		doctor_line(words[g], what, found, remedy, g != GOOD);
		return;
	}
	o = json_object_new_object();
	put_str(o, "check", what);
	put_str(o, "result", words[g]);
	put_str(o, "found", found);
	if (g != GOOD)
		put_str(o, "remedy", remedy);
	json_object_array_add(doctor_env.checks, o);
}

/*
 * Describe what later versions of Landlock restrict; here only the other layers
 * do.
 */
static bool
landlock_lacks(int abi, char *dst, size_t cap)
{
	static const struct {
		int abi;
		const char *what;
	} parts[] = {{2, "links and renames between directories"},
	    {3, "truncation"}, {4, "TCP"}, {5, "ioctls of devices"},
	    {6, "signals and abstract sockets"}};
	const char *comma = "enough; a newer kernel's also covers ";

	dst[0] = '\0';
	for (size_t i = 0; i < nitems(parts); i++) {
		if (abi >= parts[i].abi)
			continue;
		(void)strlcat(dst, comma, cap);
		(void)strlcat(dst, parts[i].what, cap);
		comma = ", ";
	}
	if (dst[0] == '\0')
		return false;
	(void)strlcat(
	    dst, ", which only seccomp and namespaces cover here", cap);
	return true;
}

/* Each keyd keeps its key in memory that is never swapped. */
static void
check_locked(void)
{
	char text[96];
	struct rlimit rl;

	if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &rl) == -1 ||
	    rl.rlim_cur >= SECRET_WHOLE)
		return;
	snprintf(text, sizeof(text), "%llu KiB may be locked",
	    (unsigned long long)rl.rlim_cur / 1024);
	check(NOTE, "locked memory", text,
	    "enough for keys of at most 512 characters; logins and longer keys "
	    "need 512 KiB: ulimit -l 512, or memlock in "
	    "/etc/security/limits.conf");
}

/* See host/inflight.h. */
static void
check_inflight(void)
{
	char text[96], names[128], remedy[400];
	struct rlimit rl;
	uint64_t n;

	if (geteuid() == 0 || getrlimit(RLIMIT_NOFILE, &rl) == -1)
		return;
	n = inflight_count();
	snprintf(text, sizeof(text), "%s%llu of %llu in flight",
	    n > rl.rlim_max ? "more than " : "",
	    (unsigned long long)(n > rl.rlim_max ? rl.rlim_max : n),
	    (unsigned long long)rl.rlim_max);
	if (n > rl.rlim_max / 2) {
		snprintf(remedy, sizeof(remedy),
		    "sessions can pass none, or soon none. Most of them are "
		    "held by: %s. End it, or raise ulimit -Hn",
		    inflight_holders(
			names, sizeof(names), DOCTOR_HOLDERS_MS)[0] != '\0'
			? names
			: "(no process that can be read)");
		check(n > rl.rlim_max ? WRONG : NOTE, "descriptors", text,
		    remedy);
	} else if (rl.rlim_max < INFLIGHT_SAFE) {
		snprintf(remedy, sizeof(remedy),
		    "enough for usual work, and nothing has to be done: an "
		    "agent that takes them all is ended within a second or "
		    "two, in which sessions wait. With ulimit -Hn %u none can",
		    INFLIGHT_SAFE);
		check(NOTE, "descriptors", text, remedy);
	} else
		check(GOOD, "descriptors", text, "");
}

static void
check_kernel(void)
{
	struct utsname u;
	char text[128], lacks[512];
	int abi = unveil_abi();

	if (uname(&u) == -1)
		return;
	snprintf(text, sizeof(text), "%s, Landlock ABI %d", u.release, abi);
	if (abi == 0)
		check(BAD, "Landlock", text,
		    "needs Linux 5.13 or newer with "
		    "\"landlock\" in the lsm= boot parameter");
	else if (landlock_lacks(abi, lacks, sizeof(lacks)))
		check(NOTE, "Landlock", text, lacks);
	else
		check(GOOD, "Landlock", text, "");
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == -1 && errno == EINVAL)
		check(BAD, "seccomp", "not in this kernel",
		    "needs CONFIG_SECCOMP_FILTER");
	else
		check(GOOD, "seccomp", "available", "");
	check_locked();
	check_inflight();
	doctor_cores(check);
	doctor_browsers(check);
	if (secret_prepare(4096) == -1)
		check(BAD, "secret memory", strerror(errno),
		    "raise the limit on locked memory (ulimit -l) to 64 KiB");
	else if (secret_kind() == SECRET_MEMFD)
		check(GOOD, "secret memory", "memfd_secret", "");
	else
		check(NOTE, "secret memory", "mlock only",
		    "keys are locked in "
		    "memory and not dumpable; boot with secretmem.enable=1 to "
		    "hide them from root as well");
}

/* Report logins of vendors' programs. Only their existence is checked. */
static bool
check_logins(void)
{
	static const struct {
		const char *file, *whose;
	} logins[] = {{".claude/.credentials.json", "Claude Code"},
	    {".config/anthropic/credentials/default.json", "the Anthropic CLI"},
	    {".codex/auth.json", "Codex"}};
	const char *home = getenv("HOME");
	char path[4096], text[4500], shown[ICCTL_PATH];
	struct stat st;
	bool any = false;

	for (size_t i = 0; i < nitems(logins); i++) {
		snprintf(path, sizeof(path), "%s/%s", home == NULL ? "" : home,
		    logins[i].file);
		if (stat(path, &st) == -1)
			continue;
		any = true;
		snprintf(text, sizeof(text), "login of %s: %s", logins[i].whose,
		    icctl_path(path, shown));
		if ((st.st_mode & 077) != 0)
			check(NOTE, "credential", text,
			    "other users can read it, so it is not used. Run: "
			    "chmod 600");
		else
			check(GOOD, "credential", text, "");
	}
	return any;
}

static void
check_keys(bool any)
{
	static const char *const names[] = {"ANTHROPIC_API_KEY",
	    "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
	    "GATEWAY_API_KEY"};
	char text[128];

	for (size_t i = 0; i < nitems(names); i++) {
		const char *v = getenv(names[i]);

		if (v == NULL || *v == '\0')
			continue;
		any = true;
		snprintf(text, sizeof(text), "%s is set (%zu characters)",
		    names[i], strlen(v));
		if (strlen(v) < 16)
			check(NOTE, "credential", text,
			    "too short to be "
			    "searched for in responses: a provider that "
			    "reflects it would not be noticed");
		else
			check(GOOD, "credential", text, "");
	}
	any |= check_logins();
	doctor_env.keyed = any;
	if (!any)
		check(NOTE, "credential", "no key and no login found",
		    "quickest: icctl setup, or export ANTHROPIC_API_KEY=...; "
		    "`icctl login` shows all ways");
}

static void
check_user(void)
{
	if (geteuid() == 0)
		check(NOTE, "user", "root",
		    "run sessions as an ordinary user: "
		    "nothing here needs root");
	else
		check(GOOD, "user", "ordinary", "");
}

/* Whoever may use Docker's socket can become root with it. */
static void
check_docker(void)
{
	static const char socket[] = "/var/run/docker.sock";

	if (geteuid() != 0 && access(socket, W_OK) == 0)
		check(NOTE, "docker", "you may use its socket",
		    "every program of yours can become root with it. Rootless "
		    "Podman needs no such right: --runtime podman");
}

/* Print what all checks amount to. */
static void
doctor_sum(bool well)
{
	const char *agents = doctor_agents_named();

	if (well && agents[0] != '\0' && !doctor_env.keyed)
		printf("\nSessions can run here, with: %s. None has a key yet: "
		       "icctl login\n",
		    agents);
	else if (well && agents[0] != '\0')
		printf("\nSessions can run here, with: %s.\n", agents);
	else if (well)
		puts("\nSessions can run here, with a command of yours "
		     "(icctl start -- COMMAND). No agent is installed.");
	if (doctor_env.bad != 0)
		printf("\n%u thing%s missing: sessions cannot run here yet.\n",
		    doctor_env.bad, plural_are(doctor_env.bad));
	if (doctor_env.wrong != 0)
		printf("\n%u thing%s wrong in your files: see WRONG above.\n",
		    doctor_env.wrong, plural_are(doctor_env.wrong));
	if (doctor_env.failed != 0)
		printf("\n%u provider%s cannot be used: see FAILED above.\n",
		    doctor_env.failed, plural(doctor_env.failed));
}

/* Returns the exit status. */
static int
doctor_end(json_object *api)
{
	bool well = doctor_env.bad == 0 && doctor_env.wrong == 0 &&
		    doctor_env.failed == 0;
	json_object *o;

	if (doctor_env.ctl->json) {
		o = json_object_new_object();
		put_bool(o, "ok", well);
		json_object_object_add(o, "checks", doctor_env.checks);
		if (api != NULL)
			json_object_object_add(o, "api", api);
		if (doctor_env.attacks != NULL)
			json_object_object_add(
			    o, "attacks", doctor_env.attacks);
		puts(json_object_to_json_string_ext(o, ICCTL_JSON));
		json_object_put(o);
	} else {
		json_object_put(doctor_env.checks);
		json_object_put(api);
		if (doctor_env.attacks == NULL)
			doctor_sum(well);
		json_object_put(doctor_env.attacks);
	}
	return well ? ICCTL_OK : ICCTL_FAILED;
}

int
icctl_doctor(struct icctl *ctl, int argc, char **argv)
{
	bool ask = words_given("--check-api"), attack = words_given("--attack");
	json_object *api = NULL;

	if ((ask && attack) || argc > (attack ? 2 : 1))
		return words_usage();
	doctor_env.ctl = ctl;
	doctor_env.checks = json_object_new_array();
	if (attack) {
		doctor_env.attacks = json_object_new_array();
		doctor_attack(check, argc == 2 ? argv[1] : NULL, ctl->json,
		    doctor_env.attacks);
		return doctor_end(NULL);
	}
	if (ask)
		api = json_object_new_array();
	check_user();
	check_docker();
	check_kernel();
	if (unveil_abi() == 0) {
		check(NOTE, "the rest", "not looked at",
		    "our programs read files only where Landlock confines them");
		return doctor_end(api);
	}
	doctor_place(ctl, check);
	check_keys(doctor_files(ctl, check) != 0);
	doctor_proxy(ctl, check);
	doctor_remote(check);
	doctor_definitions(ctl, check);
	if (doctor_env.wrong == 0) {
		doctor_policies(ctl, check);
		doctor_session(check);
		doctor_jobs(ctl, check);
		doctor_trial(check);
	} else
		check(NOTE, "sandbox", "not tried",
		    "correct the files first: no session starts with them");
	/* A mistake in one provider's file does not concern the others. */
	if (ask && (doctor_env.bad != 0 || doctor_api(ctl, check, api) == -1))
		check(NOTE, "provider", "none was tried",
		    "correct what is missing or wrong first");
	return doctor_end(api);
}
