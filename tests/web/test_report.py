#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A page of `icctl report` in Chromium: it makes no request, runs nothing of
what is in the log, and breaks no policy of its own."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import chromium  # noqa: E402
import harness as h  # noqa: E402
from made_log import MadeLog  # noqa: E402

t = h.Tap()
ADDRESS = "http://127.0.0.1:9/asked"
EVIL = (f"\"'><img src={ADDRESS}1 onerror=\"document.title='gone'\"><script>"
        f"document.title='gone'; fetch('{ADDRESS}2')</script><link "
        f"rel=stylesheet href={ADDRESS}3><style>@import url({ADDRESS}4);"
        f"</style><iframe src={ADDRESS}5></iframe><meta http-equiv=refresh "
        f"content=\"0;url={ADDRESS}6\">")


def written(work):
    """Returns the path of a report about a session that tries everything."""
    home = os.path.join(work, "home")
    session = os.path.join(home, "sessions", "20261118-120000-evil")
    os.makedirs(os.path.dirname(session), mode=0o700)
    m = MadeLog(1795000000).start(EVIL, f"/home/me/{EVIL}").state(0)
    m.usage(EVIL).state(10).call(EVIL, "deny", {"x": EVIL})
    m.call("read", "allow", {"path": EVIL})
    m.add("alarm", kind=EVIL, text=EVIL, who=EVIL)
    m.add("message", text=EVIL).stop()
    m.write(session)
    path = os.path.join(work, "report.html")
    subprocess.run(
        [h.program("icctl"), "report", "-o", path, "--with-arguments",
         "--with-messages"], check=True, capture_output=True, cwd=work,
        env={"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
             "IRONCURTAIN_HOME": home})
    return path


def requests(browser):
    return [e["params"]["request"]["url"] for e in browser.events
            if e["method"] == "Network.requestWillBeSent"]


def opened(browser, path):
    """Opens the page. Returns its tab once all of it is there."""
    tab = browser.tab()
    tab.send("Network.enable")
    tab.go("file://" + path)
    tab.until("document.readyState === 'complete' && document.body && "
              "document.body.innerText.length > 20", "the page")
    return tab


def main():
    if chromium.program() is None:
        print("1..0 # SKIP chromium is not installed (./dev test web "
              "installs it)")
        return
    with h.workdir() as work, t.case("report"):
        path = written(work)
        bad = h.put(os.path.join(work, "bad.html"), "<p>It asks for something, "
                    f"and for an image.<img src={ADDRESS}>")
        browser = chromium.Browser(work)
        try:
            opened(browser, bad).close()
            t.equal(requests(browser), ["file://" + bad, ADDRESS],
                    "a page that asks for something is seen to do so")
            browser.events.clear()
            tab = opened(browser, path)
            t.contains(tab.text("body"), "<img src=", "the report shows it")
            t.equal(tab.eval("[document.querySelectorAll('script, img, iframe, "
                             "link, object, embed, form').length, document."
                             "title.includes('gone')]"), [0, False],
                    "none of it is markup, and none of it ran")
            t.ok(tab.eval("getComputedStyle(document.body).fontFamily") !=
                 "\"Times New Roman\"" and tab.logged() == [],
                 "its style is in force, and its policy has no complaint",
                 tab.logged())
            # A frame more, in which anything late would have begun.
            tab.eval("new Promise(r => requestAnimationFrame(() => setTimeout("
                     "r, 0)))")
            t.equal(requests(browser), ["file://" + path],
                    "the report in Chromium makes no request but for itself")
        finally:
            browser.end()
    t.done()


main()
