/* SPDX-License-Identifier: ISC */
/*
 * Tests config.json: texts that are accepted, and for all others the exact
 * message with the place, the problem and the remedy.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "supervisor/files/config.h"
#include "tap.h"
#include "unit/config/cases.h"

static void
test_refused(void)
{
	struct config cfg;
	struct fault fault;
	char name[256];

	for (size_t i = 0; i < nitems(refused); i++) {
		fault.text[0] = '\0';
		log_vis(span_str(refused[i].text), name, sizeof(name));
		if (config_parse(&cfg, "/h/config.json", "/home/u", NULL,
			span_str(refused[i].text), &fault) == 0) {
			ok(false, "taken: %s", name);
			config_free(&cfg);
			continue;
		}
		is_str(fault.text, refused[i].message, "refused: %s", name);
	}
}

static void
test_open_files(const struct limits *from)
{
	struct limits l = *from;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		err(1, "getrlimit");
	is_int(l.files, 16384, "open files: the default");
	ok(limits_files(&l) == l.files || limits_files(&l) == rl.rlim_max / 2,
	    "open files: no more than half of ours");
	l.files = UINT64_MAX;
	ok(limits_files(&l) <= rl.rlim_max / 2, "the same for any number");
	l.files = 300;
	is_int(limits_files(&l), 300, "a small number stays");
	l.files = 0;
	is_int(limits_files(&l), 0, "null is none");
}

static void
test_limits(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	    {"{\"limits\":{\"processes\":2}}", "limits.processes"},
	    {"{\"limits\":{\"processes\":\"9\"}}", "limits.processes"},
	    {"{\"limits\":{\"openFiles\":20}}", "limits.openFiles"},
	    {"{\"limits\":{\"ram\":9}}", "limits.ram: unknown key"},
	    {"{\"limits\":[]}", "limits: must be an object"},
	    {"{\"dockerResources\":{\"cpus\":0}}", "dockerResources.cpus"},
	    {"{\"dockerResources\":{\"cpus\":true}}", "dockerResources.cpus"},
	    {"{\"dockerResources\":{\"memoryMb\":8}}",
		"dockerResources.memoryMb"},
	    {"{\"dockerResources\":{\"memoryMb\":1e9}}",
		"dockerResources.memoryMb"},
	};
	static const char text[] =
	    "{\"dockerResources\":{\"memoryMb\":null,\"cpus\":1.5},"
	    "\"limits\":{\"processes\":64,\"homeMb\":null,\"shmMb\":7}}";
	/* Files in memory are bounded by the memory. */
	static const struct {
		const char *text;
		uint64_t tmp, shm, server;
	} bounded[] = {
	    {"{\"dockerResources\":{\"memoryMb\":1024}}", 512, 256, 512},
	    {"{\"dockerResources\":{\"memoryMb\":64000}}", 2048, 512, 1024},
	    {"{\"limits\":{\"tmpMb\":8192}}", 4096, 512, 1024},
	    {"{\"limits\":{\"tmpMb\":3000,\"shmMb\":null}}", 3000, 4096, 1024},
	    {"{\"limits\":{\"tmpMb\":100}}", 100, 512, 100},
	    {"{\"limits\":{\"serverMemoryMb\":100}}", 2048, 512, 50},
	    {"{\"dockerResources\":{\"memoryMb\":null}}", 2048, 512, 1024},
	};
	struct limits server;
	struct config cfg;
	struct fault fault;
	char option[96];

	ok(config_parse(&cfg, "c", "/u", NULL, SPAN("{}"), &fault) == 0 &&
		cfg.limits.memory_mb == 4096 && cfg.limits.cpus == 2 &&
		cfg.limits.processes == 512 && cfg.limits.tmp_mb == 2048 &&
		cfg.limits.shm_mb == 512 && cfg.limits.home_mb == 10240,
	    "limits: the defaults");
	config_free(&cfg);
	ok(config_parse(&cfg, "c", "/u", NULL, span_str(text), &fault) == 0 &&
		cfg.limits.memory_mb == 0 && cfg.limits.cpus == 2 &&
		cfg.limits.processes == 64 && cfg.limits.home_mb == 0 &&
		cfg.limits.shm_mb == 7 && cfg.limits.tmp_mb == 2048,
	    "limits: null is none, processors are whole, others stay");
	test_open_files(&cfg.limits);
	limits_option(&cfg.limits, true, option, sizeof(option));
	ok(strncmp(option, "processes=64,file=0,cpus=", 25) == 0,
	    "limits: as ic-bridge takes them");
	config_free(&cfg);
	for (size_t i = 0; i < nitems(bounded); i++) {
		if (config_parse(&cfg, "c", "/u", NULL,
			span_str(bounded[i].text), &fault) == -1) {
			ok(false, "%s: %s", bounded[i].text, fault.text);
			continue;
		}
		is_int(cfg.limits.tmp_mb, bounded[i].tmp, "/tmp: %s",
		    bounded[i].text);
		is_int(cfg.limits.shm_mb, bounded[i].shm, "/dev/shm: %s",
		    bounded[i].text);
		limits_server(&cfg.limits, &server);
		is_int(server.tmp_mb, bounded[i].server, "of a server: %s",
		    bounded[i].text);
		config_free(&cfg);
	}
	for (size_t i = 0; i < nitems(bad); i++) {
		ok(config_parse(&cfg, "c", "/u", NULL, span_str(bad[i].text),
		       &fault) == -1 &&
			strstr(fault.text, bad[i].why) != NULL,
		    "limits: refused: %s", bad[i].text);
		config_free(&cfg);
	}
}

static void
test_taken(void)
{
	static const char text[] =
	    "{\"credentials\":{\"anthropic\":{\"env\":\"A_KEY\"},"
	    "\"openai\":{\"file\":\"~/"
	    "k\"},\"x\":{\"command\":[\"pass\",\"x\"]},"
	    "\"y\":{\"systemd\":\"y.cred\"}},"
	    "\"providers\":{\"anthropic\":{\"upstream\":"
	    "\"https://[::1]:8443/gw/v2/\",\"ca\":\"ca.pem\","
	    "\"reuse\":\"never\"},\"openai\":{\"upstream\":"
	    "\"http://127.0.0.1:80\"}},"
	    "\"escalationTimeoutSeconds\":30,\"audit\":{\"durability\":"
	    "\"disk\"},"
	    "\"auditRedaction\":{\"enabled\":false},"
	    "\"mcpServers\":\"servers.json\",\"notify\":[\"bell\"],"
	    "\"notifyOn\":[\"turn\",\"limit\"],"
	    "\"notifyQuiet\":\"22:00-07:30\","
	    "\"agent\":{\"codex\":{\"path\":\"~/bin/codex\"}},"
	    "\"memory\":{\"enabled\":true},\"agentModelId\":\"m\"}";
	const struct config_provider *p;
	struct config cfg;
	struct fault fault;

	if (!ok(config_parse(&cfg, "/h/config.json", "/home/u", NULL,
		    span_str(text), &fault) == 0,
		"a full configuration is taken"))
		return;
	p = config_provider(&cfg, "anthropic");
	ok(p != NULL && p->listed && p->kind == CREDENTIAL_ENV,
	    "credential by variable");
	is_str(p->value, "A_KEY", "its name");
	is_str(p->upstreams[0].at.host, "::1", "host of the upstream");
	is_int(p->upstreams[0].at.port, 8443, "port of the upstream");
	is_str(p->upstreams[0].at.prefix, "/gw/v2",
	    "prefix without its last slash");
	ok(p->upstreams[0].at.tls && !p->reuse, "tls, never reused");
	is_str(p->ca, "/h/ca.pem", "relative to the file");
	p = config_provider(&cfg, "openai");
	is_str(p->value, "/home/u/k", "~ is the home directory");
	ok(!p->upstreams[0].at.tls && p->upstreams[0].at.port == 80,
	    "loopback without tls");
	is_str(config_provider(&cfg, "x")->command.argv[1], "x", "command");
	is_str(config_provider(&cfg, "y")->value, "y.cred", "systemd");
	ok(config_provider(&cfg, "z") == NULL, "none");
	is_int(cfg.hold_ms, 30000, "timeout");
	ok(cfg.sync && !cfg.redact, "durability and redaction");
	is_str(cfg.servers_file, "/h/servers.json", "servers");
	is_str(cfg.notify.argv[0], "bell", "notify");
	is_int(cfg.notify_on, CONFIG_NOTIFY_TURN | CONFIG_NOTIFY_LIMIT,
	    "it is told of turns and limits");
	ok(cfg.quiet_from == 22 * 60 && cfg.quiet_to == 7 * 60 + 30,
	    "and not at night");
	is_str(config_agent(&cfg, "codex")->path, "/home/u/bin/codex",
	    "agent's program");
	is_str(cfg.ignored,
	    "memory (instead: a server of yours: icctl mcp add), "
	    "agentModelId (instead: icctl start --model NAME)",
	    "ignored by name, with what there is instead");
	config_free(&cfg);
	ok(config_parse(&cfg, "c", "/h", NULL, SPAN("{}"), &fault) == 0 &&
		cfg.hold_ms == 300000 && cfg.redact && !cfg.sync &&
		cfg.notify_on == CONFIG_NOTIFY_WAITING &&
		cfg.quiet_from == cfg.quiet_to,
	    "defaults of an empty file");
	config_free(&cfg);
}

static void
put_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) == -1 ||
	    fchmod(fd, mode) == -1)
		exit(99);
	close(fd);
}

static void
test_services(void)
{
	static const char text[] =
	    "{\"services\":{\"db\":{\"port\":5433,\"to\":\"127.0.0.1:5432\"},"
	    "\"cache\":{\"to\":\"[::1]:6379\",\"login\":{\"kind\":\"postgres\","
	    "\"user\":\"app\",\"database\":\"shop\",\"credential\":{\"file\":"
	    "\"p\"}}},"
	    "\"far\":{\"port\":9000,\"to\":\"192.168.1.9:80\"},"
	    "\"own\":{\"port\":7000,\"command\":[\"x\",\"-p\"],"
	    "\"env\":{\"A\":\"b c\"},\"health\":[\"true\"]},"
	    "\"image\":{\"port\":7001,\"image\":\"r/p@sha256:"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
	    ","
	    "\"tmpfs\":[\"/var/x\"]}},"
	    "\"env\":{\"DATABASE_URL\":\"postgres://app@db:5433/shop\"}}";
	struct config cfg;
	struct fault fault;

	if (!ok(config_parse(&cfg, "/h/config.json", "/home/u", NULL,
		    span_str(text), &fault) == 0,
		"services are taken"))
		return;
	is_int(cfg.nservices, 5, "all of them");
	is_str(cfg.services[0].name, "db", "name");
	is_int(cfg.services[0].port, 5433, "port in the sandbox");
	is_str(cfg.services[0].host, "127.0.0.1", "address");
	is_int(cfg.services[0].to, 5432, "its port");
	is_int(cfg.services[1].port, 6379, "the same port by default");
	is_str(cfg.services[1].host, "::1", "an address of IPv6");
	is_str(cfg.services[0].user, "", "a service without a login");
	ok(strcmp(cfg.services[1].user, "app") == 0 &&
		strcmp(cfg.services[1].database, "shop") == 0 &&
		cfg.services[1].login == 0,
	    "one with a login");
	is_int(cfg.ndestinations, 1, "which has a credential");
	is_str(cfg.destinations[0].as.value, "/h/p", "from this file");
	ok(strcmp(cfg.destinations[0].as.upstreams[0].at.host, "::1") == 0 &&
		cfg.destinations[0].as.upstreams[0].at.port == 6379,
	    "for this address");
	is_str(cfg.services[2].host, "192.168.1.9", "a private address");
	ok(cfg.services[2].own == NULL && cfg.services[3].own != NULL &&
		cfg.services[4].own != NULL,
	    "those of the session's own are known");
	is_str(cfg.services[3].host, "own", "which have a name for an address");
	is_int(cfg.services[3].to, 7000, "and a port");
	ok(json_object_object_length(cfg.env) == 1, "variables");
	config_free(&cfg);
}

static void
test_files(const char *dir)
{
	char path[256], want[1024];
	struct config cfg;
	struct fault fault;

	snprintf(path, sizeof(path), "%s/config.json", dir);
	ok(config_load(&cfg, NULL, dir, "/h", NULL, &fault) == 0,
	    "no file is no error");
	config_free(&cfg);
	ok(config_load(&cfg, path, dir, "/h", NULL, &fault) == -1,
	    "a named file must be there");
	snprintf(want, sizeof(want), "%s: No such file or directory", path);
	is_str(fault.text, want, "and is said to be missing");
	put_file(path, "{}", 0622);
	ok(config_load(&cfg, NULL, dir, "/h", NULL, &fault) == -1,
	    "others may write");
	snprintf(want, sizeof(want),
	    "%s: other users can write to it (mode 0622). Run: chmod go-w %s",
	    path, path);
	is_str(fault.text, want, "says how to mend it");
	put_file(path, "{\"serverCredentials\":{}}", 0644);
	ok(config_load(&cfg, NULL, dir, "/h", NULL, &fault) == -1,
	    "others may read secrets");
	snprintf(want, sizeof(want),
	    "%s: other users can read it (mode 0644), and it contains "
	    "serverCredentials. Run: chmod 600 %s",
	    path, path);
	is_str(fault.text, want, "says how to mend it");
	put_file(path, "{}", 0644);
	ok(config_load(&cfg, NULL, dir, "/h", NULL, &fault) == 0,
	    "others may read what holds no secret");
	ok(cfg.hash[0] == 0x44 && cfg.hash[31] == 0x8a, "SHA-256 of {}");
	config_free(&cfg);
	(void)unlink(path);
	if (mkfifo(path, 0600) == -1)
		exit(99);
	ok(config_load(&cfg, NULL, dir, "/h", NULL, &fault) == -1,
	    "a FIFO is refused and does not hang");
	snprintf(want, sizeof(want), "%s: not a plain file", path);
	is_str(fault.text, want, "says so");
	(void)unlink(path);
}

int
main(void)
{
	char dir[] = "/tmp/test_sup_config.XXXXXX";

	if (mkdtemp(dir) == NULL)
		return 99;
	test_refused();
	test_taken();
	test_limits();
	test_services();
	test_files(dir);
	(void)rmdir(dir);
	return tap_done();
}
