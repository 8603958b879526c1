# SPDX-License-Identifier: ISC
"""An image with well-known servers, made of the distribution's packages, since none
can be fetched."""
import os
import subprocess

PACKAGES = ("python3", "postgresql", "redis-server", "mariadb-server",
            "rabbitmq-server", "python3-aiosmtpd", "python3-psycopg2",
            "python3-redis", "python3-pymysql", "python3-pika")
# Each server, as a script for the shell. It runs as the user of the session; the
# root is read-only; /srv/data and /tmp are memory.
SERVERS = {
    "db": r"""
bin=$(ls -d /usr/lib/postgresql/*/bin)
printf %s "$POSTGRES_PASSWORD" >/tmp/word
$bin/initdb -D /srv/data/pg -U app -A scram-sha-256 --pwfile /tmp/word --no-sync
exec $bin/postgres -D /srv/data/pg -h 127.0.0.1 -p "$SERVICE_PORT" -k "" -F""",
    "cache": r"""
exec redis-server --port "$SERVICE_PORT" --bind 127.0.0.1 --save "" --dir /tmp \
    --requirepass "$REDIS_PASSWORD" """,
    "my": r"""
mariadb-install-db --no-defaults --datadir=/srv/data/my --skip-test-db >/dev/null
cat >/tmp/init.sql <<X
CREATE DATABASE shop;
CREATE USER app@localhost IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON shop.* TO app@localhost;
X
exec mariadbd --no-defaults --datadir=/srv/data/my --port="$SERVICE_PORT" \
    --bind-address=127.0.0.1 --socket=/tmp/my.sock --pid-file=/tmp/my.pid \
    --init-file=/tmp/init.sql""",
    "mq": r"""
export HOME=/srv/data RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_LOGS=- \
    RABBITMQ_MNESIA_BASE=/srv/data/m RABBITMQ_LOG_BASE=/srv/data/l \
    RABBITMQ_PID_FILE=/srv/data/pid RABBITMQ_CONF_ENV_FILE=/dev/null \
    RABBITMQ_ENABLED_PLUGINS_FILE=/srv/data/plugins \
    RABBITMQ_NODE_PORT="$SERVICE_PORT"
exec /usr/lib/rabbitmq/bin/rabbitmq-server""",
    "mail": r"""
exec python3 -u -m aiosmtpd -n -l "127.0.0.1:$SERVICE_PORT" \
    -c aiosmtpd.handlers.Debugging stdout""",
}


def make(path):
    """Makes the archive, unless it is there."""
    if os.path.exists(path):
        return
    # Packages start nothing while they are installed; places of data are empty.
    subprocess.run([
        "mmdebstrap", "--format=tar", "--variant=minbase", "--quiet",
        "--include=" + ",".join(PACKAGES),
        '--customize-hook=mkdir -m 1777 "$1/srv/data"',
        "--customize-hook=rm -rf \"$1\"/var/lib/postgresql/* "
        "\"$1\"/var/lib/mysql/*", "bookworm", path + ".new"], check=True)
    os.chmod(path + ".new", 0o644)
    os.rename(path + ".new", path)


def recipe(place, base):
    """Writes what an engine builds the image from: the base, and a name for the user
    of the session, without which PostgreSQL does not run."""
    with open(os.path.join(place, "passwd"), "w", encoding="ascii") as f:
        f.write("root:x:0:0::/:/bin/sh\n"
                f"server:x:{os.getuid()}:{os.getgid()}::/tmp:/bin/sh\n")
    with open(os.path.join(place, "Dockerfile"), "w", encoding="ascii") as f:
        f.write(f"FROM {base}\nADD passwd /etc/passwd\n")
