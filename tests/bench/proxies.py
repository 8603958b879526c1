# SPDX-License-Identifier: ISC
"""Other proxies, as far as installed, in the role of the model path: TLS of a
client, the session's key checked and replaced by the real one, TLS to the
provider, whose certificate is verified. No disk cache and no log; one process
with one thread if the program supports that. haproxy and nginx accept a
connection in place of the provider; squid and mitmproxy accept a CONNECT and
issue the certificate, as mitmd does."""
import contextlib
import os
import shutil
import socket
import subprocess
import time

HOST = "api.anthropic.com"
MANY = 8192     # descriptors: several for each of 1,000 streams

HAPROXY = """\
global
  nbthread 1
  maxconn 3000
  ssl-default-bind-options ssl-min-ver TLSv1.3
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend agent
  bind 127.0.0.1:{port} ssl crt {certs}/both.pem alpn http/1.1
  http-request deny deny_status 403 unless {{ req.hdr(x-api-key) -m str {agent} }}
  http-request set-header x-api-key {real}
  default_backend provider
backend provider
  server provider 127.0.0.1:{to} ssl verify required ca-file {certs}/ca.pem sni str({host}) verifyhost {host} alpn http/1.1
"""

NGINX = """\
daemon off;
master_process off;
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/nginx.log;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {work}/t1;
  proxy_temp_path {work}/t2;
  fastcgi_temp_path {work}/t3;
  uwsgi_temp_path {work}/t4;
  scgi_temp_path {work}/t5;
  keepalive_requests 1000000000;
  upstream provider {{
    server 127.0.0.1:{to};
    keepalive 1024;
    keepalive_requests 1000000000;
  }}
  server {{
    listen 127.0.0.1:{port} ssl backlog=1024;
    ssl_protocols TLSv1.3;
    ssl_certificate {certs}/leaf.pem;
    ssl_certificate_key {certs}/leaf.key;
    client_max_body_size 0;
    if ($http_x_api_key != "{agent}") {{ return 403; }}
    location / {{
      proxy_pass https://provider;
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_set_header Host {host};
      proxy_set_header Connection "";
      proxy_set_header X-Api-Key {real};
      proxy_ssl_protocols TLSv1.3;
      proxy_ssl_name {host};
      proxy_ssl_server_name on;
      proxy_ssl_verify on;
      proxy_ssl_trusted_certificate {certs}/ca.pem;
    }}
  }}
}}
"""

SQUID = """\
http_port 127.0.0.1:{port} ssl-bump tls-cert={work}/own.pem generate-host-certificates=on dynamic_cert_mem_cache_size=4MB
sslcrtd_program {certgen} -s {work}/generated -M 4MB
sslcrtd_children 1
acl agent req_header X-Api-Key ^{agent}$
http_access allow CONNECT
http_access allow agent
http_access deny all
ssl_bump bump all
tls_outgoing_options cafile={certs}/ca.pem min-version=1.3
request_header_access X-Api-Key deny all
request_header_replace X-Api-Key {real}
hosts_file {work}/hosts
max_filedescriptors {many}
via off
forwarded_for delete
cache deny all
cache_mem 0
access_log none
cache_log {work}/squid.log
cache_store_log none
netdb_filename none
pid_filename {work}/squid.pid
coredump_dir {work}
visible_hostname bench
pinger_enable off
shutdown_lifetime 0 seconds
"""

MITMPROXY = """\
from mitmproxy import http


def server_connect(data):
    data.server.address = ("127.0.0.1", {to})


def requestheaders(flow):
    if flow.request.headers.get("x-api-key") != "{agent}":
        flow.response = http.Response.make(403)
        return
    flow.request.headers["x-api-key"] = "{real}"
    flow.request.stream = True


def responseheaders(flow):
    flow.response.stream = True
"""


class Proxy:
    """A running proxy: port, ca, connect (whether it expects a CONNECT)."""
    connect = False

    def __init__(self, rig):
        self.rig, self.p = rig, None
        self.work = os.path.join(rig.work, self.name)
        os.makedirs(self.work)
        self.ca = rig.ca
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]

    @classmethod
    def program(cls):
        return shutil.which(cls.binary, path="/usr/sbin:/usr/bin:"
                            + os.environ.get("PATH", ""))

    def write(self, name, text):
        rig = self.rig
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text.format(
                port=self.port, to=rig.start_upstream(), certs=rig.certs,
                work=self.work, agent=rig.agent_key, real=rig.real, host=HOST,
                many=MANY, certgen=getattr(self, "certgen", "")))
        return path

    def start(self):
        argv = self.argv(self.program())
        # The file for its start-up errors.
        out = os.path.join(self.work, "out")
        with open(out, "wb") as f, self.rig.pin_proxy():
            self.p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f,
                                      stderr=f, cwd=self.work)
        self.rig.stack.callback(self.end)
        until = time.monotonic() + 30
        while time.monotonic() < until and self.p.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(
                    ("127.0.0.1", self.port), timeout=5):
                return
            time.sleep(0.05)
        with open(out, encoding="utf-8", errors="replace") as f:
            raise RuntimeError(f"{self.name} does not start: "
                               + f.read().strip()[-400:])

    def end(self):
        if self.p is not None and self.p.poll() is None:
            self.p.terminate()
            try:
                self.p.wait(5)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()


class Haproxy(Proxy):
    name = binary = package = "haproxy"

    def argv(self, program):
        return [program, "-db", "-q", "-f", self.write("conf", HAPROXY)]


class Nginx(Proxy):
    name = binary = package = "nginx"

    def argv(self, program):
        return [program, "-e", "stderr", "-p", self.work, "-c",
                self.write("conf", NGINX)]


class Squid(Proxy):
    name = binary = "squid"
    package = "squid-openssl"
    certgen = "/usr/lib/squid/security_file_certgen"
    connect = True

    @classmethod
    def program(cls):
        """The distribution's other squid cannot decrypt TLS."""
        return super().program() if os.access(cls.certgen, os.X_OK) else None

    def argv(self, program):
        own = os.path.join(self.work, "own.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=bench squid", "-addext", "keyUsage=critical,keyCertSign",
             "-keyout", own, "-out", own + ".cert"], check=True,
            capture_output=True)
        with open(own + ".cert", encoding="ascii") as f, \
                open(own, "a", encoding="ascii") as to:
            to.write(f.read())
        self.ca = own + ".cert"
        subprocess.run([self.certgen, "-c", "-s", os.path.join(
            self.work, "generated"), "-M", "4MB"], check=True,
            capture_output=True)
        self.write("hosts", "127.0.0.1 {host}\n")
        return [program, "-N", "-f", self.write("conf", SQUID)]


class Mitmproxy(Proxy):
    name = package = "mitmproxy"
    binary = "mitmdump"
    connect = True

    def argv(self, program):
        self.ca = os.path.join(self.work, "mitmproxy-ca-cert.pem")
        return [program, "-q", "--listen-host", "127.0.0.1", "-p",
                str(self.port), "--set", f"confdir={self.work}", "--set",
                f"ssl_verify_upstream_trusted_ca={self.rig.ca}", "--set",
                "connection_strategy=lazy", "-s",
                self.write("swap.py", MITMPROXY)]


PROXIES = {p.name: p for p in (Haproxy, Nginx, Squid, Mitmproxy)}
