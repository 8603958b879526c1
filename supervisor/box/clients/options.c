/* SPDX-License-Identifier: ISC */
/*
 * NODE_OPTIONS, MAVEN_OPTS and the like of the user's environment. Words about
 * memory and behaviour are taken. A file that an option names is not in the
 * sandbox, so that no program would start with it, and properties are where
 * passwords are given.
 */
#include "box/clients/options.h"

#include <string.h>

#include "base/secretive.h"
#include "common/span.h"

#define OPTIONS_MAX 2048U /* bytes of a variable */
#define OPTIONS_WORD 256U

/* Node: they load code, name a file, open a port, or take a word. */
static const char *const options_node_not[] = {"--require", "--import",
    "--loader", "--experimental-loader", "--inspect", "--debug", "--env-file",
    "--openssl-config", "--icu-data-dir", "--redirect-warnings", "--report",
    "--diagnostic-dir", "--cpu-prof", "--heap-prof", "--heapsnapshot",
    "--use-env-proxy", "--experimental-config", "--experimental-sea",
    "--permission", "--allow", "--tls-keylog", "--test-reporter-dest",
    "--localstorage-file", "--watch-path", "--snapshot-blob", "--title",
    "--trace-event-file", "--build-snapshot"};

/* The JVM: options without a file, by their beginnings. */
static const char *const options_jvm[] = {"-Xmx", "-Xms", "-Xmn", "-Xss",
    "-XX:+", "-XX:-", "-XX:MaxMetaspaceSize=", "-XX:MaxRAMPercentage=",
    "-XX:InitialRAMPercentage=", "-XX:ReservedCodeCacheSize=",
    "-XX:MaxDirectMemorySize=", "-XX:ActiveProcessorCount=",
    "-XX:TieredStopAtLevel=", "-XX:ParallelGCThreads=", "-ea", "-da",
    "-server", "-client", "-Dfile.encoding=", "-Duser.timezone=",
    "-Duser.language=", "-Duser.country=", "-Djava.awt.headless=",
    "-Djava.net.preferIPv4Stack=", "-Djava.net.preferIPv6Addresses="};
/* And these of "-XX:+", which write files or run commands. */
static const char *const options_jvm_not[] = {"-XX:+HeapDump",
    "-XX:+FlagsFinal", "-XX:+ReadVMOptionsFile", "-XX:+StartAttachListener",
    "-XX:+UnlockCommercial", "-XX:+FlightRecorder", "-XX:+LogVMOutput",
    "-XX:+CITraceTypeFlow", "-XX:+AutoCreateSharedArchive"};

static bool
options_begins(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(word, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

static bool
options_plain(const char *word)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "-_=+:.,%";

	return word[strspn(word, letters)] == '\0' &&
	       secretive_text(span_str(word)) == NULL &&
	       secretive_setting(span_str(word)) == NULL;
}

static bool
options_node_ok(const char *word)
{
	return strncmp(word, "--", 2) == 0 && word[2] != '\0' &&
	       !options_begins(
		   word, options_node_not, nitems(options_node_not));
}

static bool
options_jvm_ok(const char *word)
{
	return options_begins(word, options_jvm, nitems(options_jvm)) &&
	       !options_begins(word, options_jvm_not, nitems(options_jvm_not));
}

/* Take the next word off `text`. Returns its length, 0 at the end. */
static size_t
options_word(const char **text, const char **word)
{
	static const char blanks[] = " \t\n";
	size_t n;

	*word = *text + strspn(*text, blanks);
	n = strcspn(*word, blanks);
	*text = *word + n + strspn(*word + n, blanks);
	return n;
}

bool
clients_options(struct buf *b, enum options_kind kind, const char *text)
{
	char word[OPTIONS_WORD];
	const char *at;
	bool all = true, fits;
	size_t n;

	if (text == NULL)
		return true;
	if (strlen(text) > OPTIONS_MAX)
		return false;
	while ((n = options_word(&text, &at)) != 0) {
		fits = span_copy(span_of(at, n), word, sizeof(word)) == 0 &&
		       options_plain(word) &&
		       (kind == OPTIONS_NODE ? options_node_ok(word)
					     : options_jvm_ok(word));
		/* The word that follows may be the value of this option. */
		if (!fits || (*text != '\0' && *text != '-')) {
			all = false;
			continue;
		}
		buf_addc(b, ' ');
		buf_adds(b, word);
	}
	return all;
}
