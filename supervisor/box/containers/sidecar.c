/* SPDX-License-Identifier: ISC */
/*
 * Makes and removes the sidecar with its network and volume. The network is
 * internal: it has no way out, and its gateway is this machine, where gated
 * listens. The volume is a small tmpfs of the engine's, which holds sockets.
 * The token is in a file, which only the sidecar's container has.
 */
#include "box/containers/sidecar.h"

#include <sys/stat.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "base/jsonfile.h"
#include "box/containers/engine.h"
#include "box/containers/gate.h"
#include "common/wordlist.h"
#include "core/sup.h"

#define SIDECAR_MS 30000U
#define SIDECAR_LABELS 6U
#define SIDECAR_TRIES 4U

/* Addresses are in host byte order. */
struct network {
	char subnet[32];
	uint32_t gateway, dead;
};

static struct {
	bool network, volume, container; /* made */
	char labels[SIDECAR_LABELS][160];
} sidecar_env;

int
sidecar_check(struct fault *fault)
{
	if (engine.kind->bit == ON_DOCKER)
		return 0;
	return fault_set(fault,
	    "--transport tcp is for Docker: %s's containers are always on this "
	    "machine, where the session's sockets reach them. Leave it out",
	    engine.kind->title);
}

/* Run the client; anything but success is a fault. */
static int
sidecar_ask(const char *const *args, const char *what, struct engine_said *said,
    struct fault *fault)
{
	int rv = engine_ask(args, SIDECAR_MS, said, fault);

	if (rv == -1 || rv == 0)
		return rv;
	return fault_set(fault, "--transport tcp: %s: %s", what, said->err);
}

static void
sidecar_labels(void)
{
	char pid[24], start[32], boot[64];
	char(*l)[160] = sidecar_env.labels;
	const size_t cap = sizeof(l[0]);

	engine_owner(pid, start, boot);
	snprintf(l[0], cap, "ironcurtain.session=%s", sup.session.id);
	snprintf(l[1], cap, "ironcurtain.owner-host=%s", here()->host);
	snprintf(l[2], cap, "ironcurtain.owner-uid=%u", (unsigned)geteuid());
	snprintf(l[3], cap, "ironcurtain.owner-pid=%s", pid);
	snprintf(l[4], cap, "ironcurtain.owner-start=%s", start);
	snprintf(l[5], cap, "ironcurtain.boot-id=%s", boot);
}

/* Make a network or a volume with our labels. */
static int
sidecar_make(const char *kind, const char *const *options, struct fault *fault)
{
	const char *list[40];
	struct wordlist args = WORDLIST_IN(list);
	static struct engine_said said;

	wordlist_all(&args, (const char *const[]){kind, "create", NULL});
	for (size_t i = 0; i < SIDECAR_LABELS; i++) {
		wordlist_add(&args, "--label");
		wordlist_add(&args, sidecar_env.labels[i]);
	}
	wordlist_all(&args, options);
	wordlist_add(&args, engine.beside);
	if (wordlist_end(&args) == NULL)
		return fault_errno(fault, "%s %s", engine.kind->name, kind);
	return sidecar_ask(list, kind, &said, fault);
}

/* Parse "172.18.0.0/16 172.18.0.1 ". Returns false if it is not that. */
static bool
network_parse(char *text, struct network *n)
{
	char *slash = strchr(text, '/'), *space, *end;
	struct in_addr subnet, gateway;
	unsigned long bits;
	uint32_t hosts;

	if (slash == NULL || (space = strchr(slash, ' ')) == NULL)
		return false;
	snprintf(n->subnet, sizeof(n->subnet), "%.*s", (int)(space - text),
	    text);
	*slash = *space = '\0';
	bits = strtoul(slash + 1, &end, 10);
	space[1 + strcspn(space + 1, " \n")] = '\0';
	/* A gateway may be written with the length of its network. */
	space[1 + strcspn(space + 1, "/")] = '\0';
	if (*end != '\0' || bits < 8 || bits > 28 ||
	    inet_pton(AF_INET, text, &subnet) != 1 ||
	    inet_pton(AF_INET, space + 1, &gateway) != 1)
		return false;
	hosts = UINT32_MAX >> bits;
	n->gateway = ntohl(gateway.s_addr);
	n->dead = (ntohl(subnet.s_addr) | hosts) - 1;
	if (n->dead == n->gateway)
		n->dead--;
	return true;
}

static const char *
dotted(uint32_t address, char text[16])
{
	snprintf(text, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
	    address >> 8 & 255, address & 255);
	return text;
}

static int
network_remove(struct fault *fault)
{
	const char *const args[] = {"network", "rm", engine.beside, NULL};
	static struct engine_said said;

	return sidecar_ask(args, "network", &said, fault);
}

/* Have Docker choose a free network, and read which one. */
static int
network_choose(struct network *n, struct fault *fault)
{
	const char *const args[] = {"network", "inspect", "--format",
	    "{{range .IPAM.Config}}{{.Subnet}} {{.Gateway}} {{end}}",
	    engine.beside, NULL};
	static const char *const options[] = {"--internal", NULL};
	static struct engine_said said;

	if (sidecar_make("network", options, fault) == -1)
		return -1;
	sidecar_env.network = true;
	if (sidecar_ask(args, "network", &said, fault) == -1)
		return -1;
	if (!network_parse(said.out, n))
		return fault_set(fault,
		    "--transport tcp: Docker chose an unknown kind of network: "
		    "%.100s", said.out);
	return network_remove(fault);
}

/*
 * Docker gives containers of an internal network a default route to this
 * machine, by which they reach each of its addresses, and more where iptables
 * is not used. The default route leads to an address that no machine has
 * instead.
 */
static int
sidecar_network(struct network *n, struct fault *fault)
{
	char gateway[16], dead[16], aux[48];
	const char *const options[] = {"--internal", "--subnet", n->subnet,
	    "--gateway", gateway, "--aux-address", aux, NULL};

	for (unsigned i = 0; i < SIDECAR_TRIES; i++) {
		sidecar_env.network = false;
		if (network_choose(n, fault) == -1)
			return -1;
		(void)dotted(n->gateway, gateway);
		(void)snprintf(aux, sizeof(aux), "DefaultGatewayIPv4=%s",
		    dotted(n->dead, dead));
		/* Another one may have taken it meanwhile. */
		if (sidecar_make("network", options, fault) == 0) {
			sidecar_env.network = true;
			return 0;
		}
	}
	return -1;
}

static int
sidecar_volume(struct fault *fault)
{
	char how[96];
	const char *const options[] = {"--driver", "local", "--opt",
	    "type=tmpfs", "--opt", "device=tmpfs", "--opt", how, NULL};

	snprintf(how, sizeof(how), "o=size=1m,nr_inodes=32,uid=%u,gid=%u,mode=0700",
	    (unsigned)geteuid(), (unsigned)getegid());
	if (sidecar_make("volume", options, fault) == -1)
		return -1;
	sidecar_env.volume = true;
	return 0;
}

/*
 * Listen where the sidecar's network ends. If that is another machine (a
 * virtual one), the engine knows a name of this one, and connections come from
 * loopback. Writes the address that the sidecar connects to.
 */
static int
sidecar_listen(const struct network *n, char where[64], struct fault *fault)
{
	uint32_t address = n->gateway;
	int rv = gate_listen(address, sidecar_checked);

	if (rv == -1 && errno == EADDRNOTAVAIL) {
		snprintf(engine.host, sizeof(engine.host),
		    SIDECAR_HOST ":host-gateway");
		snprintf(where, 64, SIDECAR_HOST);
		address = INADDR_LOOPBACK;
		rv = gate_listen(address, sidecar_checked);
	} else {
		(void)dotted(n->gateway, where);
	}
	if (rv == -1)
		return fault_errno(fault, "--transport tcp: listeners");
	return sidecar_check_begin(n->gateway, n->dead, address, fault);
}

static int
sidecar_token(struct fault *fault)
{
	if (session_write(engine.fd, "token", 0600, gate_token()) == -1)
		return fault_errno(fault, "%s/engine/token", sup.session.dir);
	return 0;
}

static int
sidecar_run(const char *where, struct fault *fault)
{
	char ways[GATE_WAYS][128], check[96];
	const char *list[6 + GATE_WAYS];
	struct wordlist words = WORDLIST_IN(list);
	static struct engine_said said;
	char *const *argv;
	char **args;
	int rv;

	wordlist_all(
	    &words, (const char *const[]){"ic-bridge", "forward", ENGINE_TOKEN,
			check, "/run/ironcurtain", NULL});
	snprintf(check, sizeof(check), "%s:%u", where, gate_port(GATE_CHECK));
	for (unsigned i = 0; i < GATE_WAYS; i++) {
		if (gate_name(i) == NULL || gate_port(i) == 0)
			continue;
		snprintf(ways[i], sizeof(ways[i]), "%s=%s:%u", gate_name(i),
		    where, gate_port(i));
		wordlist_add(&words, ways[i]);
	}
	if ((argv = wordlist_end(&words)) == NULL)
		return fault_errno(fault, "%s", engine.kind->title);
	if ((args = engine_args(argv, true, fault)) == NULL)
		return -1;
	sidecar_env.container = true;
	rv = sidecar_ask((const char *const *)args, "run", &said, fault);
	jsonfile_strings_free(args);
	return rv;
}

int
sidecar_begin(struct fault *fault)
{
	struct network n;
	char where[64];

	snprintf(engine.beside, sizeof(engine.beside), "ironcurtain-%s",
	    sup.session.id);
	sidecar_labels();
	if (sidecar_network(&n, fault) == -1 || sidecar_volume(fault) == -1 ||
	    sidecar_listen(&n, where, fault) == -1 ||
	    sidecar_token(fault) == -1 || sidecar_run(where, fault) == -1)
		return -1;
	return 0;
}

pid_t
sidecar_agent(void)
{
	const char *args[] = {"container", "inspect", "--format",
	    "{{.State.Pid}}", engine.beside, NULL};
	static struct engine_said said;
	char path[64];
	struct fault fault;
	struct stat st;
	long pid;

	if (engine_ask(args, SIDECAR_MS, &said, &fault) != 0 ||
	    (pid = strtol(said.out, NULL, 10)) <= 1)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld", pid);
	/* The number of a process on another machine means nothing here. */
	if (engine.host[0] != '\0' || stat(path, &st) == -1)
		return 0;
	return (pid_t)pid;
}

/* Remove one of them. What it says is for a person, unless it is gone. */
static void
sidecar_drop(bool *made, const char *const *args)
{
	static struct engine_said said;
	struct fault fault = {""};
	int rv;

	if (!*made)
		return;
	*made = false;
	rv = engine_ask(args, SIDECAR_MS, &said, &fault);
	if (rv != 0 && strstr(said.err, "o such ") == NULL)
		sup_warn("%s %s of this session cannot be removed: %s",
		    args[0], args[2], rv == -1 ? fault.text : said.err);
}

void
sidecar_remove(void)
{
	char container[128];
	const char *const rm[] = {"rm", "--force", container, NULL};
	const char *const network[] = {
	    "network", "rm", engine.beside, NULL};
	const char *const volume[] = {"volume", "rm", engine.beside, NULL};

	snprintf(container, sizeof(container), "%s-gate", engine.beside);
	sidecar_drop(&sidecar_env.container, rm);
	sidecar_check_free();
	sidecar_drop(&sidecar_env.network, network);
	sidecar_drop(&sidecar_env.volume, volume);
}
