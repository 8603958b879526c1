#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Rows 22 to 27 of the rule book: a provider whose TLS cannot be trusted gets
no byte of a request; the TLS that the agent is offered; the session's CA."""
import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import warnings

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from agent import Closed, Malformed  # noqa: E402
from provider_ca import make_certificates  # noqa: E402

t = h.Tap()
warnings.simplefilter("ignore", DeprecationWarning)
CONF = """[req]
distinguished_name=dn
prompt=no
[dn]
CN=localhost
[x]
basicConstraints=critical,CA:{ca}
{alt}
{usage}
"""
ALT = "subjectAltName=DNS:localhost,IP:127.0.0.1"
# name: fields of the certificate, kind of its key, kind of its signature
BAD = {
    "another name": {"alt": "subjectAltName=DNS:evil.test"},
    "no name but the subject's": {"alt": ""},
    "a wildcard": {"alt": "subjectAltName=DNS:*.localhost,DNS:*"},
    "a name below": {"alt": "subjectAltName=DNS:x.localhost"},
    "only as a mail address": {"alt": "subjectAltName=email:a@localhost"},
    "expired": {"sign": ["-not_before", "20200101000000Z", "-not_after",
                         "20200201000000Z"]},
    "not yet valid": {"sign": ["-not_before", "20400101000000Z",
                               "-not_after", "20410101000000Z"]},
    "another CA": {"ca_dir": "other"},
    "self-signed": {"self": True},
    "for clients": {"usage": "extendedKeyUsage=clientAuth"},
    "for code": {"usage": "extendedKeyUsage=codeSigning"},
    "RSA of 1024 bits": {"key": ["-newkey", "rsa:1024"]},
    "signed with SHA-1": {"sign": ["-sha1"]},
    "CBC alone": {"ciphers": "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"},
    "static RSA alone": {"key": ["-newkey", "rsa:2048"],
                         "ciphers": "AES128-GCM-SHA256:@SECLEVEL=0"},
}
EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]


def openssl(directory, *args):
    r = subprocess.run(["openssl", *args], cwd=directory, check=False,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       text=True)
    if r.returncode:
        raise RuntimeError(r.stderr)
    return r.stdout


def certificate(work, name, row):
    """Write PEM files for a server with this certificate."""
    d = os.path.join(work, re.sub("[^a-z]", "-", name.lower()))
    os.mkdir(d)
    with open(os.path.join(d, "conf"), "w", encoding="ascii") as f:
        f.write(CONF.format(ca="FALSE", alt=row.get("alt", ALT),
                            usage=row.get("usage", "")))
    request = ["req", "-config", "conf", "-nodes", "-keyout", "key",
               *row.get("key", EC)]
    if row.get("self"):
        openssl(d, *request, "-x509", "-extensions", "x", "-out", "pem",
                "-days", "30")
        return d
    openssl(d, *request, "-out", "csr")
    ca = os.path.join(work, row.get("ca_dir", "good"))
    sign = row.get("sign", [])
    if "-not_before" in sign:  # only `openssl ca` can set the date
        with open(os.path.join(d, "caconf"), "w", encoding="ascii") as f:
            f.write("[ca]\ndefault_ca=c\n[c]\ndatabase=db\nserial=serial\n"
                    "new_certs_dir=.\npolicy=p\ndefault_md=sha256\n"
                    "[p]\ncommonName=supplied\n")
        open(os.path.join(d, "db"), "w", encoding="ascii").close()
        openssl(d, "ca", "-batch", "-config", "caconf", "-rand_serial",
                "-cert", os.path.join(ca, "ca.pem"), "-keyfile",
                os.path.join(ca, "ca.key"), "-in", "csr", "-out", "pem",
                "-extfile", "conf", "-extensions", "x", "-startdate",
                sign[1], "-enddate", sign[3], "-notext")
        return d
    openssl(d, "x509", "-req", "-in", "csr", "-CA", os.path.join(ca, "ca.pem"),
            "-CAkey", os.path.join(ca, "ca.key"), "-set_serial", "7", "-days",
            "30", "-extfile", "conf", "-extensions", "x", "-out", "pem",
            *sign)
    return d


class Server:
    """TLS with a given certificate; records every byte that it receives."""

    def __init__(self, directory, ciphers=None):
        self.got, self.met = b"", 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.set_ciphers(ciphers or "ALL:@SECLEVEL=0")
        if ciphers:
            self.context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.context.load_cert_chain(os.path.join(directory, "pem"),
                                     os.path.join(directory, "key"))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            self.met += 1
            threading.Thread(target=self.serve, args=(raw,),
                             daemon=True).start()

    def serve(self, raw):
        with contextlib.suppress(OSError), raw:
            raw.settimeout(20)
            with self.context.wrap_socket(raw, server_side=True) as sock:
                while data := sock.recv(4096):
                    self.got += data
                    if b"\r\n\r\n" in data:
                        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2"
                                     b"\r\n\r\nok")


def ask(work, directory, number, ciphers=None):
    """(status, body, server) of a request to a server with that certificate.
    """
    server = Server(directory, ciphers)
    entry = {"upstream": f"https://localhost:{server.port}",
             "ca": os.path.join(work, "good", "ca.pem")}
    place = os.path.join(work, f"s{number}")
    os.mkdir(place, 0o700)
    with h.Session(place, config={
            "providers": {"anthropic": entry},
            "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}}) as s:
        m = s.model()
        r = m.request("GET", "/api/hello", m.key_headers("anthropic"))
        m.close()
        log = s.session_log()

        def failures():
            return json.loads(s.icctl("status", "--json").stdout)["failures"]
        if r.status == 502:  # keyd reports it at the end of its turn
            h.wait_for(failures, "no failure is told")
        said = failures()
        status = s.icctl("status").stdout + s.icctl("keys").stdout
    server.listener.close()
    return r.status, r.body, server, (log, status, said)


def test_providers(work):
    for i, (name, row) in enumerate([("as it should be", {}), *BAD.items()]):
        with t.case(name):
            status, body, server, log = ask(
                work, certificate(work, name, row), i, row.get("ciphers"))
            if not row:
                t.equal((status, body), (200, b"ok"), "a good certificate")
                continue
            t.ok(status == 502 and b"no trusted TLS" in body and server.met,
                 f"{name}: 502", f"{status} {body} {server.met} {log}")
            t.equal(server.got, b"", f"{name}: not a byte of the request")
            _, status, said = log
            t.ok(status.count("no trusted TLS connection to the provider: ") == 2 and
                 len(said) == 1 and said[0]["provider"] == "anthropic" and
                 said[0]["count"] >= 1, f"{name}: the person is told", (status, said))
            if name == "expired":
                t.contains(status, "certificate has expired", "with the reason")


# ---- on the agent's side --------------------------------------------------
def context(s):
    return ssl.create_default_context(cafile=os.path.join(
        s.dir, "orientation", "ca-cert.pem"))


def shake(s, sni="api.anthropic.com", **options):
    """(version, ALPN, reused) of a handshake, or None. Sessions are resumed in
    the context that they are of."""
    m = s.model(options.get("host", sni), connect=False)
    m.connect()
    c = options.get("context") or context(s)
    c.set_ciphers("ALL:@SECLEVEL=0")
    if "low" in options:
        c.minimum_version = options["low"]
    if "high" in options:
        c.maximum_version = options["high"]
    if "alpn" in options:
        c.set_alpn_protocols(options["alpn"])
    if "ciphers" in options:
        c.set_ciphers(options["ciphers"])
    try:
        with c.wrap_socket(m.sock, server_hostname=sni,
                           session=options.get("session")) as sock:
            sock.sendall(b"x\n")
            with contextlib.suppress(OSError):
                sock.recv(100)
            s.last = sock.session
            return (sock.version(), sock.selected_alpn_protocol(),
                    sock.session_reused)
    except (OSError, Closed, Malformed, ValueError):
        return None
    finally:
        m.close()


def test_agents(s):
    v = ssl.TLSVersion
    with_old = {"low": v.TLSv1}
    for name, options, want in (
            ("TLS 1.3", {}, ("TLSv1.3", None, False)),
            ("TLS 1.2", {"high": v.TLSv1_2}, ("TLSv1.2", None, False)),
            ("TLS 1.1", {**with_old, "high": v.TLSv1_1}, None),
            ("TLS 1.0", {**with_old, "high": v.TLSv1}, None),
            ("ALPN http/1.1", {"alpn": ["http/1.1"]},
             ("TLSv1.3", "http/1.1", False)),
            ("ALPN h2", {"alpn": ["h2"]}, ("TLSv1.3", "h2", False)),
            ("RC4 and the like", {"high": v.TLSv1_2,
                                  "ciphers": "aNULL:eNULL:@SECLEVEL=0"}, None),
            ("CBC with SHA-1", {"high": v.TLSv1_2,
                                "ciphers": "ECDHE-ECDSA-AES128-SHA"}, None),
            ("plain RSA", {"high": v.TLSv1_2, "ciphers": "AES128-SHA256"},
             None)):
        t.equal(shake(s, **options), want, f"agent: {name}")
    got = shake(s, alpn=["h3", "spdy/3"])
    t.ok(got is None or got[1] is None, "agent: ALPN of neither", got)


def test_resumption(s):
    """In TLS 1.3, and of the same host."""
    other = "api.openai.com"
    for name, high, reused in (("1.3", ssl.TLSVersion.TLSv1_3, True),
                               ("1.2", ssl.TLSVersion.TLSv1_2, False)):
        c, version = context(s), "TLSv" + name
        t.equal(shake(s, context=c, high=high, alpn=["http/1.1"]),
                (version, "http/1.1", False), f"TLS {name}: a first connection")
        first = s.last
        t.ok(first.has_ticket == reused, f"TLS {name}: a ticket", reused)
        t.equal(shake(s, context=c, high=high, session=first, alpn=["h2"]),
                (version, "h2", reused),
                f"TLS {name}: another; its protocol is chosen again")
        t.equal(shake(s, context=c, high=high, session=first),
                (version, "h2", reused), f"TLS {name}: and again")
        t.equal(shake(s, other, context=c, high=high, session=first),
                (version, "h2", False), f"TLS {name}: not of another host")
        t.equal(shake(s, context=c, high=high, session=first, host=other),
                None, f"TLS {name}: nor with another host's name")


def test_ca(s):
    orient = os.path.join(s.dir, "orientation")
    text = openssl(orient, "x509", "-in", "ca-cert.pem", "-noout", "-text")
    for part in ("CA:TRUE, pathlen:0", "X509v3 Name Constraints: critical",
                 "DNS:api.anthropic.com", "Certificate Sign"):
        t.contains(text, part, f"CA: {part}")
    permitted = re.search(r"Permitted:\s+(.*?)\n\s+(?:X509|Signature|"
                          r"Excluded)", text, re.S)
    names = re.findall(r"DNS:(\S+)", permitted[1]) if permitted else None
    t.ok(names and set(names) <= {
        "api.anthropic.com", "platform.claude.com", "api.openai.com",
        "chatgpt.com",
        "generativelanguage.googleapis.com", "openrouter.ai"},
        "CA: for those names alone", names)
    r = subprocess.run(["openssl", "x509", "-in", "ca-cert.pem", "-noout",
                        "-checkend", str(400 * 86400)], cwd=orient,
                       check=False, capture_output=True)
    t.equal(r.returncode, 1, "CA: it does not outlive the session by far")
    found = []
    for top in (s.dir, s.home, s.workspace, s.user_home):
        for base, _, files in os.walk(top):
            for name in files:
                # The copy of /etc keeps links to programs.
                if os.path.islink(os.path.join(base, name)):
                    continue
                with contextlib.suppress(OSError), \
                        open(os.path.join(base, name), "rb") as f:
                    if b"PRIVATE KEY" in f.read():
                        found.append(os.path.join(base, name))
    t.equal(found, [], "CA: no private key in any file")
    m = s.model()
    leaf = m.sock.getpeercert()
    t.equal(leaf["subjectAltName"], (("DNS", "api.anthropic.com"),),
            "leaf: for that name alone")
    m.close()


def main():
    with h.workdir() as work:
        for name in ("good", "other"):
            make_certificates(os.path.join(work, name), ["localhost"])
        test_providers(work)
    with h.workdir() as work:
        p = h.Provider(work)
        with h.Session(work, provider=p) as s:
            for part in (test_agents, test_resumption, test_ca):
                with t.case(part.__name__):
                    part(s)
        p.end()
    t.done()


if __name__ == "__main__":
    main()
