# SPDX-License-Identifier: ISC
"""The page of `icctl web`, as a browser asks for it."""
import http.client
import json
import os
import subprocess
import urllib.parse

import harness as h


class Page:
    """A page that runs, and one login."""

    def __init__(self, home, *args, program=None):
        self.home = home
        self.env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": home,
                    "IRONCURTAIN_HOME": home}
        self.process = h.Process(
            [program or h.program("icctl"), "--json", "web", *args],
            os.path.join(home, "web.err"), env=self.env)
        self.url = self.process.ready["url"]
        self.link = self.process.ready["link"]
        self.address = urllib.parse.urlsplit(self.url).netloc
        self.token = None

    def run(self, *args):
        """Runs another `icctl web`. Returns its status, output, and errors."""
        r = subprocess.run([h.program("icctl"), "--json", "web", *args],
                           env=self.env, capture_output=True, text=True,
                           timeout=30, check=False)
        return r.returncode, r.stdout, r.stderr

    def raw(self, method, path, body=None, **heads):
        """Returns the status, the heads and the body of one exchange."""
        host, port = self.address.rsplit(":", 1)
        c = http.client.HTTPConnection(host.strip("[]"), port, timeout=40)
        c.putrequest(method, path, skip_host=True)
        sent = {"Host": self.address, **heads}
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        for name, value in sent.items():
            if value is not None:
                c.putheader(name.replace("_", "-"), value)
        c.endheaders(body)
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, r.headers, data

    def ask(self, path, body=None, **heads):
        """Asks as the page does. Returns the status and the answer."""
        sent = {"Origin": f"http://{self.address}",
                "Sec_Fetch_Site": "same-origin",
                "Content_Type": "application/json",
                "X_IronCurtain": self.token, **heads}
        status, _, data = self.raw(
            "POST", path, json.dumps(body or {}).encode(), **sent)
        return status, json.loads(data)

    def login(self, link=None):
        """Uses the link, once. Returns the status and the answer."""
        secret = (link or self.link).split("#login=")[1]
        status, o = self.ask("/api/login", {"secret": secret})
        if status == 200:
            self.token = o["token"]
        return status, o

    def state(self, since=0, session="", page=1):
        return self.ask("/api/state", {"since": since, "session": session,
                                       "page": page})[1]

    def until(self, check, what, session=""):
        """Asks for the state until the check holds. Returns it."""
        state = self.state(session=session)
        for _ in range(100):
            if check(state):
                return state
            state = self.state(state["rev"], session)
        raise AssertionError(f"{what}: {state}")

    def stop(self):
        """Ends the page. Returns the status, output and errors."""
        r = self.run("--stop")
        self.process.p.wait(10 * h.PATIENCE)
        self.process.end()
        return r
