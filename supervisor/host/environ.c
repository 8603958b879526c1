/* SPDX-License-Identifier: ISC */
#include "host/environ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "host/reach.h"

/* A name, or the beginning of one with * at its end. */
static const char *const environ_allowed[] = {"HOME", "USER", "LOGNAME", "LANG",
    "LC_*", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "PATH", NULL};

/* Programs that keep secrets, and those that they run, are told by these. */
static const char *const environ_known[] = {"VAULT_*", "BAO_*", "AWS_*",
    "GNUPGHOME", "GPG_*", "PASSWORD_STORE_*", "GOPASS_*", "OP_*", "BW_*",
    "BITWARDENCLI_*", "BWS_*", "LPASS_*", "RBW_*", "KEEPER_*", "DASHLANE_*",
    "PROTON_*", "INFISICAL_*", "DOPPLER_*", "CONJUR_*", "AKEYLESS_*", "SOPS_*",
    "AGE_*", "TELEPORT_*", "BOUNDARY_*", "CONSUL_*", "NOMAD_*", "GOOGLE_*",
    "CLOUDSDK_*", "GCLOUD_*", "AZURE_*", "ARM_*", "OCI_*", "ALIBABA_*",
    "TENCENTCLOUD_*", "IBMCLOUD_*", "DIGITALOCEAN_*", "KUBECONFIG", "KRB5*",
    "SECRETS_*", "SECRET_*", "KEYRING_*", "PASS_*", "PINENTRY_*", "XAUTHORITY",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
    "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy", "LD_LIBRARY_PATH", "PYTHONPATH",
    "PYTHONHOME", "VIRTUAL_ENV", "CONDA_*", "NODE_PATH", "NODE_OPTIONS",
    "PERL5LIB", "RUBYLIB", "GEM_*", "JAVA_HOME", "NVM_*", "VOLTA_*", "ASDF_*",
    "MISE_*", "PYENV_*", "RBENV_*", "NTFY_*", "PUSHOVER_*", "SLACK_*",
    "TELEGRAM_*", NULL};

/* These matter to shells, terminals and desktops, or are ours. */
static const char *const environ_idle[] = {"PWD", "OLDPWD", "SHLVL", "_",
    "SHELL", "MAIL", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "LS_COLORS",
    "LS_OPTIONS", "COLORTERM", "COLUMNS", "LINES", "TERM_*", "TERMINFO*",
    "TERMCAP", "PAGER", "MANPAGER", "LESS*", "EDITOR", "VISUAL", "HIST*", "PS1",
    "PS2", "PS4", "PROMPT*", "WINDOWID", "WINDOWPATH", "XDG_SESSION_*",
    "XDG_CURRENT_DESKTOP", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "XDG_MENU_*",
    "XDG_SEAT*", "XDG_VTNR", "XDG_GREETER_*", "XDG_ACTIVATION_TOKEN",
    "DESKTOP_*", "GNOME_*", "GDM*", "GTK*", "GDK_*", "GSM_*", "KDE_*",
    "KONSOLE_*", "QT_*", "XCURSOR_*", "XMODIFIERS", "*_IM_MODULE",
    "SESSION_MANAGER", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_AGENT_*",
    "TMUX*", "STY", "VTE_*", "ZSH*", "BASH", "BASH_VERSION", "FISH_*",
    "INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_*",
    "NOTIFY_SOCKET", "LISTEN_*", "MEMORY_PRESSURE_*", "DEBUGINFOD_*",
    "LANGUAGE", "TZ", "IC_*", "IRONCURTAIN_*", NULL};

static bool
environ_in(const char *const *list, const char *name, size_t len)
{
	size_t n;

	for (; *list != NULL; list++) {
		n = strlen(*list);
		if ((*list)[0] == '*') {
			if (len >= n - 1 && strncmp(name + len - (n - 1),
						*list + 1, n - 1) == 0)
				return true;
		} else if ((*list)[n - 1] == '*') {
			if (len >= n - 1 && strncmp(name, *list, n - 1) == 0)
				return true;
		} else if (len == n && strncmp(name, *list, n) == 0) {
			return true;
		}
	}
	return false;
}

static bool
environ_listed(const struct environ_how *how, const char *name, size_t len)
{
	for (char *const *v = how->listed; v != NULL && *v != NULL; v++)
		if (strlen(*v) == len && strncmp(*v, name, len) == 0)
			return true;
	return false;
}

char *
host_list_clean(const struct places *places, const char *list,
    void (*told)(const char *element, const char *place))
{
	char *copy = strdup(list), *out = calloc(1, strlen(list) + 1);
	char *rest = copy, *item;
	const char *place;

	if (copy == NULL || out == NULL) {
		free(copy);
		free(out);
		return NULL;
	}
	while ((item = strsep(&rest, ":")) != NULL) {
		if (item[0] != '/')
			continue;
		if ((place = places_of(places, item, NULL)) != NULL) {
			if (told != NULL)
				told(item, place);
			continue;
		}
		if (out[0] != '\0')
			strlcat(out, ":", strlen(list) + 1);
		strlcat(out, item, strlen(list) + 1);
	}
	free(copy);
	return out;
}

/*
 * Returns the entry as a child may have it, "" if the child may not have it, or
 * NULL with errno set. The caller frees it.
 */
static char *
environ_entry(const struct environ_how *how, const char *entry)
{
	const char *eq = strchr(entry, '=');
	char *list, *out = NULL;
	size_t n;

	n = eq == NULL ? 0 : (size_t)(eq - entry);
	if (n == 0 || (!environ_in(environ_allowed, entry, n) &&
			  !environ_listed(how, entry, n)))
		return strdup("");
	if (n != 4 || strncmp(entry, "PATH", 4) != 0)
		return reach_text(how->places, how->user_home, eq + 1) != NULL
			   ? strdup("")
			   : strdup(entry);
	if ((list = host_list_clean(how->places, eq + 1, NULL)) == NULL)
		return NULL;
	if (asprintf(&out, "PATH=%s", list) == -1)
		out = NULL;
	free(list);
	return out;
}

char **
host_environ(const struct environ_how *how, char *const *from)
{
	size_t n = 0, k = 0;
	char **out;

	while (from != NULL && from[n] != NULL)
		n++;
	if ((out = calloc(n + 1, sizeof(*out))) == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if ((out[k] = environ_entry(how, from[i])) == NULL) {
			jsonfile_strings_free(out);
			errno = ENOMEM;
			return NULL;
		}
		if (out[k][0] != '\0') {
			k++;
			continue;
		}
		free(out[k]);
		out[k] = NULL;
	}
	return out;
}

int
host_environ_check(const struct environ_how *how, char *const *from,
    const char *what, struct fault *fault)
{
	const char *eq, *place;
	size_t n;

	for (; from != NULL && *from != NULL; from++) {
		if ((eq = strchr(*from, '=')) == NULL)
			continue;
		n = (size_t)(eq - *from);
		if (!environ_listed(how, *from, n) ||
		    (n == 4 && strncmp(*from, "PATH", 4) == 0))
			continue;
		place = reach_text(how->places, how->user_home, eq + 1);
		if (place != NULL)
			return fault_set(fault,
			    "%s: the variable %.*s, which is listed under "
			    "\"variables\", is refused: its value leads into "
			    "%s, which the agent can write. Set it to another "
			    "value, or take it from the list",
			    what, (int)n, *from, place);
	}
	return 0;
}

/* Append the names of one round, as many as fit. Returns how many there are. */
static unsigned
environ_names(const struct environ_how *how, char *const *from, bool known,
    char *dst, size_t cap)
{
	const char *eq;
	unsigned found = 0;
	size_t n, len;

	for (; from != NULL && *from != NULL; from++) {
		if ((eq = strchr(*from, '=')) == NULL || eq[1] == '\0')
			continue;
		n = (size_t)(eq - *from);
		if (environ_in(environ_allowed, *from, n) ||
		    environ_listed(how, *from, n) ||
		    environ_in(environ_known, *from, n) != known ||
		    environ_in(environ_idle, *from, n))
			continue;
		found++;
		len = strlen(dst);
		if (len + n + 3 <= cap)
			snprintf(dst + len, cap - len, "%s%.*s",
			    len == 0 ? "" : ", ", (int)n, *from);
	}
	return found;
}

unsigned
host_environ_lost(const struct environ_how *how, char *const *from, bool all,
    char *dst, size_t cap)
{
	unsigned found;

	dst[0] = '\0';
	found = environ_names(how, from, true, dst, cap);
	if (all)
		found += environ_names(how, from, false, dst, cap);
	return found;
}
