# SPDX-License-Identifier: ISC
"""Headless Chromium, driven over its DevTools pipe: pages, clicks and keys as a
person makes them, and what the page may not do."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--remote-debugging-pipe")
PATIENCE = int(os.environ.get("IC_PATIENCE", "1"))


def program():
    return shutil.which("chromium")


class Browser:
    """One browser with a profile of its own."""

    def __init__(self, work, *flags):
        here_in, to = os.pipe()
        self.from_, there_out = os.pipe()
        self.to = to
        # The browser reads from 3 and writes to 4.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
                for fd in (here_in, there_out)]

        def arrange():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        argv = [program(), *FLAGS, f"--user-data-dir={work}/profile",
                f"--crash-dumps-dir={work}/profile", *flags, "about:blank"]
        self.err = open(os.path.join(work, "chromium.err"), "wb")
        self.p = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err,
            preexec_fn=arrange, pass_fds=(3, 4),
            env={"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
                 "XDG_RUNTIME_DIR": work})
        for fd in (here_in, there_out, *ends):
            os.close(fd)
        self.data = b""
        self.n = 0
        self.replies = {}
        self.events = []

    def _read(self, seconds):
        ready, _, _ = select.select([self.from_], [], [], seconds)
        if not ready:
            return
        more = os.read(self.from_, 1 << 20)
        if not more:
            raise RuntimeError("the browser has ended")
        self.data += more
        *whole, self.data = self.data.split(b"\0")
        for line in whole:
            o = json.loads(line)
            if "id" in o:
                self.replies[o["id"]] = o
            else:
                self.events.append(o)

    def send(self, method, session=None, seconds=60, **params):
        self.n += 1
        o = {"id": self.n, "method": method, "params": params}
        if session:
            o["sessionId"] = session
        os.write(self.to, json.dumps(o).encode() + b"\0")
        end = time.monotonic() + seconds * PATIENCE
        while self.n not in self.replies:
            if time.monotonic() > end:
                raise TimeoutError(method)
            self._read(1)
        r = self.replies.pop(self.n)
        if "error" in r:
            raise RuntimeError(f"{method}: {r['error']}")
        return r["result"]

    def tab(self, url=None):
        return Tab(self, url)

    def end(self):
        try:
            self.send("Browser.close")
        except (RuntimeError, OSError, TimeoutError):
            self.p.kill()
        try:
            self.p.wait(20 * PATIENCE)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
        os.close(self.to)
        os.close(self.from_)
        self.err.close()


class Tab:
    def __init__(self, browser, url):
        self.browser = browser
        self.target = browser.send("Target.createTarget",
                                   url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", flatten=True,
                                    targetId=self.target)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")
        if url:
            self.go(url)

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def go(self, url):
        return self.send("Page.navigate", url=url)

    def eval(self, code):
        """Returns the value of an expression in the page; it may wait."""
        r = self.send("Runtime.evaluate", expression=code, awaitPromise=True,
                      returnByValue=True)
        if "exceptionDetails" in r:
            raise RuntimeError(str(r["exceptionDetails"])[:400])
        return r["result"].get("value")

    def until(self, code, what=None, seconds=30):
        """Returns the first true value of the expression; True for an
        element."""
        code = f"(v => v instanceof Node ? true : v)({code})"
        end = time.monotonic() + seconds * PATIENCE
        while time.monotonic() < end:
            try:
                value = self.eval(code)
            except RuntimeError:    # the page is still being loaded
                value = None
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(what or code)

    def text(self, selector):
        return self.eval(f"document.querySelector({selector!r})?.innerText")

    def click(self, selector):
        """Presses and releases the mouse in the middle of an element."""
        at = self.until(
            "(() => { const e = document.querySelector(%r); if (!e || "
            "e.disabled || !e.offsetParent) return null; "
            "e.scrollIntoView({block: 'center'}); "
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, "
            "r.y + r.height / 2]; })()" % selector, f"click {selector}")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=at[0],
                      y=at[1], button="left", clickCount=1)

    def key(self, key, code=0, text=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key,
                      windowsVirtualKeyCode=code, **more)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def size(self, width, height, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=mobile)

    def picture(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def logged(self):
        """Returns what the browser reported, policy violations included."""
        return [e["params"]["entry"]["text"] for e in self.browser.events
                if e["method"] == "Log.entryAdded"
                and e.get("sessionId") == self.session]

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
