/* SPDX-License-Identifier: ISC */
/*
 * Servers that need more than their program's name: a directory with data, an
 * account, settings for a service that lives as long as one session. Their
 * variables have the names that the servers' usual images give them, so that an
 * entry with an image and one without look alike.
 */
#include "workers/serve/serve.h"

#include <string.h>

/*
 * Durability costs time and buys nothing here. A password is checked as outside
 * if one is set; without one there is none, as nothing but the agent reaches
 * the port.
 */
static const char known_postgres[] =
    "d=" SERVE_DATA "/postgres; how=trust; pw=\n"
    "for b in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do\n"
    "	[ -x \"$b/initdb\" ] && PATH=$b:$PATH\n"
    "done\n"
    "u=${POSTGRES_USER:-postgres}; n=${POSTGRES_DB:-$u}\n"
    "if [ -n \"${POSTGRES_PASSWORD:-}\" ]; then\n"
    "	how=scram-sha-256; pw=--pwfile=/tmp/pw\n"
    "	printf '%s\\n' \"$POSTGRES_PASSWORD\" >/tmp/pw\n"
    "fi\n"
    "unset POSTGRES_PASSWORD\n"
    "initdb -D $d -U \"$u\" -A $how $pw -E UTF8 --locale=C.UTF-8 "
    "--no-sync >/dev/null\n"
    "rm -f /tmp/pw\n"
    "q=$(printf '%s' \"$n\" | sed 's/\"/\"\"/g')\n"
    "[ \"$n\" = postgres ] || printf 'CREATE DATABASE \"%s\"\\n' \"$q\" |\n"
    "	postgres --single -j -D $d postgres >/dev/null\n"
    "exec postgres -D $d -p $SERVICE_PORT -c listen_addresses=127.0.0.1 "
    "-c unix_socket_directories= -c fsync=off -c synchronous_commit=off "
    "-c full_page_writes=off -c max_connections=200\n";

static const char known_redis[] =
    "set -- --port $SERVICE_PORT --bind 127.0.0.1 --dir " SERVE_DATA
    " --save '' --appendonly no --daemonize no\n"
    "if [ -n \"${REDIS_PASSWORD:-}\" ]; then\n"
    "	printf 'requirepass \"%s\"\\n' \"$REDIS_PASSWORD\" >/tmp/redis.conf\n"
    "	set -- /tmp/redis.conf \"$@\"\n"
    "	unset REDIS_PASSWORD\n"
    "else\n"
    "	set -- \"$@\" --protected-mode no\n"
    "fi\n"
    "exec redis-server \"$@\"\n";

static const char known_mariadb[] =
    "d=" SERVE_DATA "/mysql\n"
    "quote() { printf '%s' \"$1\" | sed \"s/\\\\\\\\/\\\\\\\\\\\\\\\\/g; "
    "s/'/''/g\"; }\n"
    "mariadb-install-db --no-defaults --datadir=$d "
    "--auth-root-authentication-method=normal --skip-test-db >/dev/null\n"
    "r=$(quote \"${MARIADB_ROOT_PASSWORD:-${MYSQL_ROOT_PASSWORD:-}}\")\n"
    "u=$(quote \"${MARIADB_USER:-${MYSQL_USER:-}}\")\n"
    "p=$(quote \"${MARIADB_PASSWORD:-${MYSQL_PASSWORD:-}}\")\n"
    "n=${MARIADB_DATABASE:-${MYSQL_DATABASE:-}}\n"
    "n=$(printf '%s' \"$n\" | sed 's/`/``/g')\n"
    "{\n"
    "	[ -z \"$n\" ] || printf 'CREATE DATABASE `%s`;\\n' \"$n\"\n"
    "	[ -z \"$u\" ] ||\n"
    "		printf \"CREATE USER '%s'@'%%' IDENTIFIED BY '%s';\\n\" "
    "\"$u\" \"$p\"\n"
    "	[ -z \"$u\" ] || [ -z \"$n\" ] ||\n"
    "		printf \"GRANT ALL ON \\`%s\\`.* TO '%s'@'%%';\\n\" "
    "\"$n\" \"$u\"\n"
    "	printf \"CREATE USER 'root'@'%%' IDENTIFIED BY '%s';\\n\" \"$r\"\n"
    "	echo \"GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;\"\n"
    /* A host by its address comes before any host, and has no password. */
    "	echo \"DROP USER IF EXISTS 'root'@'127.0.0.1', 'root'@'::1';\"\n"
    "} >/tmp/init.sql\n"
    "unset MARIADB_ROOT_PASSWORD MYSQL_ROOT_PASSWORD MARIADB_PASSWORD "
    "MYSQL_PASSWORD\n"
    "exec mariadbd --no-defaults --datadir=$d --port=$SERVICE_PORT "
    "--bind-address=127.0.0.1 --socket=/tmp/mysql.sock "
    "--pid-file=/tmp/mysql.pid --init-file=/tmp/init.sql "
    "--innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M "
    "--skip-log-bin --skip-name-resolve\n";

/* It listens before it takes logins. */
static const char known_postgres_ready[] =
    "for b in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do\n"
    "	[ -x \"$b/pg_isready\" ] && PATH=$b:$PATH\n"
    "done\n"
    "exec pg_isready -q -h 127.0.0.1 -p $SERVICE_PORT\n";

const char *
serve_known(const struct service *s, bool ready)
{
	static const struct {
		const char *name, *text, *ready;
	} all[] = {{"postgres", known_postgres, known_postgres_ready},
	    {"redis-server", known_redis, NULL},
	    {"mariadbd", known_mariadb, NULL},
	    {"mysqld", known_mariadb, NULL}};
	struct json_object *words = serve_list(s, "command");
	const char *name;

	if (words == NULL || json_object_array_length(words) != 1)
		return NULL;
	name = json_object_get_string(json_object_array_get_idx(words, 0));
	for (size_t i = 0; i < nitems(all); i++)
		if (strcmp(all[i].name, name) == 0)
			return ready ? all[i].ready : all[i].text;
	return NULL;
}
