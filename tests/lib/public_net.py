# SPDX-License-Identifier: ISC
"""Runs a test in a network of its own whose loopback has public addresses, and
where names of its choice lead to them: the product connects to nothing that a
document of a server names on a private address."""
import os
import subprocess
import sys
import tempfile

MARK = "IC_TEST_PUBLIC_NET"
# The system's root certificates, which a test may write inside; or unset.
ROOTS = "IC_TEST_ROOTS"
SYSTEM = "/etc/ssl/certs/ca-certificates.crt"
ADDRESS = "193.0.2.10"
SCRIPT = ('ip link set lo up && ip addr add "$1"/32 dev lo && '
          'mount --bind "$2" /etc/hosts && '
          '{ [ ! -f "$3" ] || mount --bind "$4" "$3"; } && shift 4 && '
          'exec setpriv --inh-caps=-all --ambient-caps=-all '
          '--bounding-set=-all "$@"')


def enter(*names, private=()):
    """Run this program again, inside. Returns None inside; outside it ends the
    program with the inner one's status, or returns why it cannot."""
    if os.environ.get(MARK):
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts, \
            tempfile.NamedTemporaryFile("w", suffix=".pem") as roots:
        hosts.write("127.0.0.1 localhost\n")
        for n in names:
            hosts.write(f"{ADDRESS} {n}\n")
        for n in private:
            hosts.write(f"10.9.9.9 {n}\n")
        hosts.flush()
        os.chmod(hosts.name, 0o644)
        argv = ["unshare", "-Unm", "--map-current-user", "--keep-caps", "sh",
                "-c", SCRIPT, "sh", ADDRESS, hosts.name, SYSTEM, roots.name]
        if os.path.exists(SYSTEM):
            with open(SYSTEM, encoding="utf-8") as f:
                roots.write(f.read())
            roots.flush()
        r = subprocess.run([*argv, "true"], capture_output=True, text=True,
                           check=False)
        if r.returncode != 0:
            return r.stderr.strip() or "unshare failed"
        r = subprocess.run([*argv, sys.executable, *sys.argv],
                           env={**os.environ, MARK: "1", **(
                               {ROOTS: roots.name} if os.path.exists(SYSTEM)
                               else {})}, check=False)
    sys.exit(r.returncode)
