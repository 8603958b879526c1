#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""ic-survey by itself, with a directory in the place of /etc and others in the
place of /opt: it copies what all may read and what holds no secret, once, and
finds everything that a sandbox must not reach."""
import fcntl
import os
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
SURVEY = os.path.join(h.PREFIX, "libexec", "ironcurtain", "ic-survey")
CERT = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"

TAKEN = {
    "ld.so.conf": "include x\n", "java-17-openjdk/net.properties": "a=b\n",
    "java-17-openjdk/security/java.security": "login.config.url.1=x\n"
    "#javax.net.ssl.keyStorePassword=hidden\nkeystore.type=pkcs12\n",
    "maven/settings.xml": "<settings>\n<!--<server><password>repopwd"
    "</password>\n</server>--></settings>\n",
    "ssl/certs/one.pem": CERT, "own/ca.pem": "# a comment\n" + CERT,
    "ssl/openssl.cnf": "challengePassword = A challenge password\n",
    "fonts/conf.d/10.conf": "<fontconfig/>\n", "profile": "umask 022\n",
    "pam.d/common-password": "password\trequisite\tpam_x.so\n",
    "wgetrc": "use_proxy = on\n",
    "login.defs": "PASS_MAX_DAYS\t99999\n", "networks": "loopback\n",
    "tokens.d/readme": "tokens are kept elsewhere\n",
    "app/compass.conf": "bypass = everything\nkeyword: value\n",
    "app/ref.conf": "password = ${PASSWORD}\ntoken = <token>\n"
    "secret = /etc/app/s\npassword = none\n",
    "gitconfig": "[core]\n\tautocrlf = input\n",
}

LEFT = {
    # by name
    **{n: "x\n" for n in (
        "shadow", "shadow-", "gshadow", "gshadow-", "passwd-", "group-",
        "subuid", "subgid", "subuid-", "sudoers", "sudoers.d/me",
        "security/opasswd", "doas.conf", "polkit-1/rules.d/x", "machine-id",
        "machine-info", "hostid", "mailname", "fstab", "crypttab",
        "NetworkManager/system-connections/home.nmconnection",
        "netplan/01.yaml", "network/interfaces", "systemd/network/a.network",
        "wpa_supplicant/wpa_supplicant.conf", "iwd/main.conf",
        "dhcp/dhclient.conf", "hostapd/hostapd.conf", "ppp/chap-secrets",
        "resolv.conf", "resolvconf/update.d/x", "dnsmasq.conf",
        "bind/rndc.key", "ssh/ssh_config", "ssh/ssh_host_ed25519_key",
        "dropbear/key", "wireguard/wg0.conf", "openvpn/client/a.conf",
        "ipsec.conf", "ipsec.secrets", "ipsec.d/x", "strongswan.conf",
        "swanctl/swanctl.conf", "vpnc/default.conf", "openconnect/x",
        "tailscale/x", "zerotier-one/x", "tinc/x/tinc.conf", "nebula/c.yml",
        "cloudflared/cert", "stunnel/s.conf", "tor/torrc", "crontab",
        "cron.d/job", "cron.daily/job", "anacrontab", "at.deny",
        "systemd/system/x.service", "init.d/x", "rc2.d/S01x",
        "krb5.keytab", "app/http.keytab", "ssl/private/own.crt",
        "pki/tls/private/x", "app/private/x", "letsencrypt/live/x/cert",
        "server.key", "app/sub/x.key", "app/id_rsa", "app/id_ed25519.pub",
        "app/.htpasswd", "nginx/htpasswd", "postfix/sasl_passwd",
        "exim4/passwd.client", "app/.pgpass", "app/.netrc", "netrc",
        "apt/auth.conf.d/x", "git/credentials", "app/auth.json",
        "app/.env", "app/prod.env", "app/x.p12", "app/x.jks", "app/x.kdbx",
        "msmtprc", "cups/printers.conf", "samba/smb.conf", "cifs-credentials",
        "sssd/sssd.conf", "snmp/snmpd.conf", "zabbix/z.conf",
        "docker/daemon.json", "containerd/config.toml", "kubernetes/admin.conf",
        "rancher/k3s/k3s.yaml", "gitlab-runner/config.toml",
        "github-runner/x", "buildkite-agent/buildkite-agent.cfg",
        "vault.d/vault.hcl", "consul.d/c.hcl", "ansible/hosts",
        "puppet/puppet.conf", "salt/minion", "bacula/b.conf", "borgmatic/c",
        "rclone.conf", "rsyncd.secrets", "s3cfg", "boto.cfg", "aws/config",
        "libvirt/x", "ceph/ceph.client.admin.keyring", "keepalived/k.conf",
        "mysql/debian.cnf", "cloud/cloud.cfg", "credstore/x")},
    # by text
    "app/one.conf": "user = me\npassword = hunter22\n",
    "app/two.yml": "db:\n  password: 'hunter22'\n",
    "app/three.json": '{"apiKey" : "abcd1234"}\n',
    "app/four.xml": '<a><!-- b --><password>hunter22</password></a>\n',
    "app/five.xml": '<Resource name="x" password="hunter22"/>\n',
    "app/six.ini": "[x]\nDB_PASSWORD=hunter22\n",
    "app/seven.properties": "spring.datasource.password=hunter22\n",
    "app/eight.conf": "requirepass hunter22\n",
    "app/nine.conf": "index-url = https://me:hunter22@host/simple\n",
    "app/ten.conf": "machine host login me password hunter22\n",
    "app/eleven": "machine host\n  login me\n  password hunter22\n",
    "app/twelve.cfg": "export AWS_SECRET_ACCESS_KEY='abcdefgh12345678'\n",
    "app/thirteen.php": "$cfg['blowfish_secret'] = 'abcd1234efgh';\n",
    "app/fourteen.conf": "url=https://ghtoken0123456789abcdef@host/x\n",
    "app/fifteen.toml": 'token = "abcdef123456"\n',
    "app/sixteen.conf": "psk=\"my home network\"\n",
    "app/seventeen.pub": CERT + KEY,
    "ssl/certs/eighteen.pem": CERT + KEY,
    "app/nineteen": "key: AKIAABCDEFGHIJKLMNOP\n",
    "app/twenty": "//registry/:_authToken=abcd-1234-efgh\n",
    "app/twentyone": "proxyPassword: hunter22\n",
    "npmrc": "_auth = aGVsbG86d29ybGQ=\n",
    "environment": "http_proxy=http://me:hunter22@proxy:3128\n",
}


class Survey:
    def __init__(self, work):
        self.work = work
        self.etc = os.path.join(work, "etc")
        self.store = os.path.join(work, "store")
        self.usr = os.path.join(work, "usr")
        for d in (self.etc, self.store, self.usr):
            os.makedirs(d, mode=0o755)

    def run(self, *trees, links=""):
        """Returns the reports, as a list of (letter, text)."""
        fds = [os.open(d, os.O_RDONLY | os.O_DIRECTORY)
               for d in (self.store, self.etc, self.usr, *trees)]
        # Descriptors 3, 4, ...: a shell arranges them.
        words = " ".join(f"{3 + i}</proc/self/fd/{fd}"
                         for i, fd in enumerate(fds))
        r = subprocess.run(
            ["/bin/bash", "-c", f'exec {words}; exec "$@"', "-", SURVEY,
             str(os.geteuid()), str(os.getegid()), links, str(len(trees))],
            pass_fds=fds, capture_output=True, timeout=60, check=False)
        for fd in fds:
            os.close(fd)
        if r.returncode != 0:
            raise RuntimeError(f"{r.returncode}: {r.stderr.decode()}")
        out = r.stdout.split(b"\0")[:-1]
        return [(x[:1].decode(), x[1:].decode()) for x in out]

    def copy(self):
        reports = dict(self.run())
        return os.path.join(self.store, reports["c"])

    def put(self, name, text, mode=0o644):
        path = os.path.join(self.etc, name)
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        h.put(path, text)
        os.chmod(path, mode)
        return path


def settle(s):
    """Wait until no file looks as if it had been written while it was copied:
    only its ctime counts, which nothing sets back."""
    end = time.time() + 3
    h.wait_for(lambda: time.time() > end, "three seconds", 10)


def test_copy(work):
    s = Survey(work)
    for name, text in {**TAKEN, **LEFT}.items():
        s.put(name, text)
    s.put("closed/x.conf", "x\n")
    os.chmod(os.path.join(s.etc, "closed"), 0o700)
    s.put("half/x.conf", "x\n")
    os.chmod(os.path.join(s.etc, "half"), 0o711)
    s.put("app/mine.conf", "x\n", 0o640)
    s.put("app/run", "#!/bin/sh\n", 0o755)
    s.put("app/large", "x" * (1 << 20))
    s.put("app/larger", "x" * ((1 << 20) + 1))
    s.put("ld.so.cache", "x" * (1 << 21))
    os.mkfifo(os.path.join(s.etc, "app/fifo"))
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(os.path.join(s.etc, "app/sock"))
    for name, to in (("alternatives/java", "/usr/lib/jvm/x/bin/java"),
                     ("app/away", "../shadow"), ("app/none", "nowhere"),
                     ("localtime", "/usr/share/zoneinfo/UTC")):
        os.makedirs(os.path.dirname(os.path.join(s.etc, name)), exist_ok=True)
        os.symlink(to, os.path.join(s.etc, name))
    top = s.copy()

    def at(name):
        return os.path.join(top, name)
    for name, text in TAKEN.items():
        got = None
        if os.path.isfile(at(name)):
            with open(at(name), encoding="utf-8") as f:
                got = f.read()
        t.equal(got, text, f"{name} is copied")
    left = [n for n in LEFT if os.path.lexists(at(n))]
    t.equal([n for n in left if n != "resolv.conf"], [],
            f"none of {len(LEFT)} files that hold secrets is copied")
    for name in ("closed/x.conf", "half/x.conf", "app/mine.conf", "app/fifo",
                 "app/sock", "app/larger"):
        t.ok(not os.path.lexists(at(name)), f"{name} is not copied")
    for name in ("closed", "ssl/private", "pki/tls/private"):
        t.equal(os.listdir(at(name)), [], f"{name} is there, and empty")
    t.equal(os.path.getsize(at("app/large")), 1 << 20, "1 MiB is copied")
    t.equal(os.path.getsize(at("ld.so.cache")), 1 << 21,
            "the linker's cache may be larger")
    t.equal(os.readlink(at("alternatives/java")), "/usr/lib/jvm/x/bin/java",
            "a link is copied as it is")
    t.equal(os.readlink(at("app/away")), "../shadow", "also one that dangles")
    t.equal(os.readlink(at("localtime")), "/usr/share/zoneinfo/UTC",
            "/etc/localtime")
    t.equal((os.stat(at("app/run")).st_mode & 0o777,
             os.stat(at("profile")).st_mode & 0o777), (0o555, 0o444),
            "programs stay programs, and nothing can be written")
    t.equal(os.stat(at("profile")).st_mtime_ns,
            os.stat(os.path.join(s.etc, "profile")).st_mtime_ns,
            "a copy has the time of its file")
    with open(at("passwd"), encoding="utf-8") as f:
        t.equal(f.read(), f"agent:x:{os.geteuid()}:{os.getegid()}:agent:"
                "/home/agent:/bin/sh\n", "the user is made up")
    with open(at("hosts"), encoding="utf-8") as f:
        t.ok("127.0.0.1 ironcurtain\n" in f.read(), "the own name resolves")
    t.ok(os.path.isdir(at("ironcurtain")), "the session's files have a place")
    os.chmod(os.path.join(s.etc, "closed"), 0o755)


def test_kept(work):
    """The copy is taken again until something changes, and the older one is
    removed unless a session uses it."""
    s = Survey(work)
    path = s.put("one.conf", "one\n")
    fresh = s.copy()
    settle(s)
    first = s.copy()
    t.ok(first != fresh, "a file that was just written is copied again")
    t.equal(s.copy(), first, "an unchanged /etc is copied once")
    t.equal(os.listdir(s.store), [os.path.basename(first)],
            "the copy that nobody uses is removed")
    lock = os.open(first, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    for change, what in (
            (lambda: h.put(path, "two\n"), "a text"),
            (lambda: os.chmod(path, 0o640), "a mode"),
            (lambda: s.put("sub/x", "x\n"), "a new file"),
            (lambda: os.unlink(os.path.join(s.etc, "sub/x")), "a removal"),
            (lambda: os.symlink("x", os.path.join(s.etc, "l")), "a link")):
        before = s.copy()
        change()
        t.ok(s.copy() != before, f"{what} makes another copy")
    t.ok(os.path.isdir(first), "a copy that a session uses stays")
    os.close(lock)
    h.put(path, "three\n")
    s.copy()
    t.ok(not os.path.lexists(first), "and is removed afterwards")


def test_trees(work):
    s = Survey(work)
    trees = []

    def tree(name, files=(), dirs=()):
        top = os.path.join(work, name)
        os.makedirs(top)
        for f in files:
            f, text = f if isinstance(f, tuple) else (f, "x\n")
            h.put(os.path.join(top, f), text)
        for d in dirs:
            os.makedirs(os.path.join(top, d))
        trees.append(top)
        return top
    tree("good", ["bin/tool", "lib/x.so"])
    a = tree("socket", ["bin/tool"], ["run/deep"])
    sock = socket.socket(socket.AF_UNIX)
    os.chdir(os.path.join(a, "run", "deep"))
    sock.bind("s")
    os.chdir("/")
    a = tree("fifo", ["bin/tool"])
    os.mkfifo(os.path.join(a, "bin", "pipe"))
    a = tree("closed", ["priv/x"])
    os.chmod(os.path.join(a, "priv"), 0o311)
    secret = [
        ".cargo/credentials.toml", ".cargo/credentials", "gem/credentials",
        "uv/credentials/credentials.toml", ".npmrc", "a/.pypirc", ".netrc",
        "lib/.env", ".composer/auth.json", "x/.git-credentials",
        ("settings.xml", "<password>hunter22</password>"),
        "settings-security.xml", ("gradle.properties", "apiToken=abcd1234\n"),
        ("config.toml", '[registry]\ntoken = "abcdef123456"\n'),
        ("etc/npmrc", "//r/:_authToken=abcd-efgh-1234\n"),
        ("deep/down/in/a/tree/server.key", KEY), ("id_rsa", KEY),
        "x.keystore", "x.jks", "a/b.kdbx",
        ("NuGet/NuGet.Config", '<add key="ClearTextPassword" value="x"/>')]
    public = [
        "lib/python3/secrets.py", "lib/python3/__pycache__/secrets.cpython.pyc",
        ("certifi/cacert.pem", CERT), "node_modules/x/credentials.js",
        ("lib/python3/test/ssl_key.pem", KEY),
        ("go/src/crypto/tls/testdata/example-key.pem", KEY),
        "package.json", ("settings.toml", 'default = "stable"\n')]
    tree("tools", [*secret, *public], [".ssh", ".gnupg"])
    tree("many", [f"{i}/.npmrc" for i in range(201)])
    reports, now, found = s.run(*trees), None, {}
    for kind, text in reports:
        if kind == "a":
            now = found.setdefault(os.path.basename(trees[int(text)]), [])
        elif now is not None and kind != ".":
            now.append((kind, text))
    t.equal(reports[-1][0], ".", "the report is complete")
    t.equal(found["good"], [], "an ordinary directory")
    t.equal(found["socket"], [("b", "a socket"), ("p", "run/deep/s")],
            "a socket is found by name")
    t.equal(found["fifo"], [("b", "a FIFO"), ("p", "bin/pipe")],
            "a FIFO is found by name")
    if os.geteuid() != 0:
        t.equal(found["closed"], [("k", "priv")],
                "a directory that cannot be looked through is covered")
    got = {x for k, x in found["tools"] if k == "k"}
    for f in [*secret, ".ssh", ".gnupg"]:
        f = f[0] if isinstance(f, tuple) else f
        t.ok(f in got, f"{f} is covered")
        got.discard(f)
    t.equal(sorted(got), [], "and nothing else is")
    t.equal(found["many"][-2][1][:14], "more than 200 ",
            "a directory with many such files is refused")
    os.chmod(os.path.join(work, "closed", "priv"), 0o755)


def test_links(work):
    """The links that lead to /var are found, by any text."""
    s = Survey(work)
    os.makedirs(os.path.join(s.usr, "lib/ghc"))
    os.makedirs(os.path.join(s.etc, "alternatives"))
    for name, to in (("usr/lib/ghc/db", "/var/lib/ghc/db"),
                     ("usr/lib/up", "../../var/lib/up"),
                     ("usr/lib/dots", "/var/./lib/x/../dots//"),
                     ("usr/lib/inside", "ghc/db"), ("usr/null", "/dev/null"),
                     ("usr/lib/other", "/variable/x"),
                     ("etc/alternatives/x", "/var/lib/alt"),
                     # More names than one call of the kernel gives.
                     *((f"usr/lib/many/{i:04}-" + "n" * 240, f"/var/many/{i}")
                       for i in range(600))):
        os.makedirs(os.path.dirname(os.path.join(work, name)), exist_ok=True)
        os.symlink(to, os.path.join(work, name))
    many = sorted(f"/var/many/{i}" for i in range(600))
    t.equal(sorted(x for k, x in s.run(links="links") if k == "v"),
            ["/var/lib/alt", "/var/lib/dots", "/var/lib/ghc/db", "/var/lib/up",
             *many], "links to /var")
    t.equal([x for k, x in s.run() if k == "v"], [],
            "they are looked for only if icsupervisor asks")


def main():
    for test in (test_copy, test_kept, test_trees, test_links):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
