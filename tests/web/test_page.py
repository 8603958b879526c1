#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The page of `icctl web` in Chromium: answers, a hostile call, two tabs, a
session that dies, a page that sleeps, other pages that try, sizes, and keys."""
import contextlib
import json
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import chromium  # noqa: E402
import harness as h  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", "A person decides.",
                tool=["echo", "lookup"]),
         h.rule("let", "allow", tool=["env"])]
PICTURES = os.environ.get("IC_PICTURES")
HOSTILE = ("<img src=x onerror=\"document.title='gone'\"><script>"
           "document.title='gone'</script>&lt;\u202e\x1b[31m\x00" + "x" * 50)


def picture(tab, name):
    if PICTURES:
        tab.picture(os.path.join(PICTURES, name + ".png"))


def link(p):
    status, out, err = p.run()
    if status != 0:
        raise RuntimeError(err)
    return json.loads('"' + out.strip().strip('"') + '"')


def open_page(browser, p):
    tab = browser.tab(link(p))
    tab.until("!document.querySelector('#page').hidden", "logged in")
    return tab


def none_wait(tab):
    tab.until("!document.querySelector('.row.call')", "nothing waits")


def choose(tab, what=".row.call"):
    tab.click(what)
    tab.until("document.querySelector('#call-text').innerText.length > 20",
              "the call's text")


def test_login(browser, p):
    tab = browser.tab(p.url)
    tab.until("!document.querySelector('#login').hidden", "no login")
    t.contains(tab.text("#login"), "icctl web", "without a link it says how")
    tab.go(p.link)
    tab.until("!document.querySelector('#page').hidden", "logged in")
    t.equal(tab.eval("location.href"), p.url,
            "the secret is gone from the address")
    t.equal(tab.eval("document.cookie"), "", "there is no cookie")
    tab.send("Page.reload")
    tab.until("!document.querySelector('#page').hidden", "still logged in")
    t.ok(True, "a page that is loaded again is logged in")
    other = browser.tab(p.link)
    other.until("!document.querySelector('#login').hidden", "used")
    t.contains(other.text("#login-why"), "used", "the link is good once")
    other.close()
    return tab


def test_answers(tab, s, agent):
    waits = agent.start_call("echo__echo", {"text": "first"})
    tab.until("document.title.startsWith('(1)')", "the title counts")
    choose(tab)
    text = tab.text("#call-text")
    t.equal(tab.eval("document.querySelector('#approve').disabled"), True,
            "it cannot be approved at once")
    test_axe(tab)
    t.ok("echo" in text and "A person decides." in text
         and "digest" in text, "the call is shown whole", text)
    picture(tab, "call")
    tab.click("#approve")
    r = waits.wait()
    t.ok("first" in h.text_of(r) and not r.get("isError"), "approved", r)
    tab.until("document.querySelector('#call-name').innerText"
              ".includes('no longer')", "it is told")
    waits = agent.start_call("echo__echo", {"text": "second"})
    tab.until("document.querySelector('.row.call')", "another call")
    choose(tab)
    tab.until("!document.querySelector('#deny').disabled", "it may be denied")
    tab.click("#because")
    tab.type("not <b>this</b>")
    tab.click("#deny")
    r = waits.wait()
    t.ok(r.get("isError") and "not <b>this</b>" in h.text_of(r),
         "denied, with the reason", r)
    none_wait(tab)


def test_keys(tab, agent):
    """Answers without a mouse."""
    waits = agent.start_call("echo__echo", {"text": "by keys"})
    tab.until("document.querySelector('.row.call')", "a call")
    tab.eval("document.querySelector('.row.call').focus()")
    tab.key("Enter", 13, "\r")
    tab.until("!document.querySelector('#approve').disabled", "ready")
    tab.eval("document.querySelector('#call-text').focus()")
    tab.key("Tab", 9)
    t.equal(tab.eval("document.activeElement.id"), "approve",
            "Tab leads from the text to the answer")
    tab.key("Enter", 13, "\r")
    t.ok(not waits.wait().get("isError"), "Enter approves")
    none_wait(tab)


def focus(tab):
    return tab.eval("document.activeElement.id || "
                    "document.activeElement.className")


def press(tab, keys):
    for key in keys:
        tab.key(key, ord(key.upper()), key)


def test_by_keys_only(tab, s, agent):
    """Two calls, answered without the mouse and without Tab."""
    waits = [agent.start_call("echo__echo", {"text": x})
             for x in ("keys one", "keys two")]
    tab.until("document.querySelectorAll('.row.call').length === 2", "calls")
    tab.eval("document.activeElement.blur()")
    press(tab, "jj")
    t.equal(tab.eval("document.activeElement.classList.contains('call')"),
            True, "j j is the first call")
    press(tab, "jk")
    tab.key("Enter", 13, "\r")
    tab.until("document.activeElement.id === 'call-text'", "Enter opens it")
    t.ok(True, "Enter moves to the call")
    press(tab, "a")
    t.ok(focus(tab) == "call-text" and len(s.pending()) == 2,
         "a approves nothing by itself, and waits until it may", focus(tab))
    tab.until("document.activeElement.id === 'approve'", "a")
    tab.key("Enter", 13, "\r")
    t.ok(not waits[0].wait().get("isError"), "a Enter approves")
    tab.until("document.activeElement.id === 'call-text' && document."
              "querySelector('#call-text').innerText.includes('keys two')",
              "the next call")
    t.ok(True, "after an answer the next call is open")
    press(tab, "d")
    t.equal(focus(tab), "because", "d leads to the reason")
    tab.type("j and a are letters here")
    t.equal(focus(tab), "because", "where keys are letters")
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.key("Enter", 13, "\r")
    r = waits[1].wait()
    t.ok(r.get("isError") and "are letters here" in h.text_of(r),
         "Enter denies, with the reason", r)
    tab.until("document.activeElement.id === 'detail'", "the end")
    t.ok(True, "after the last answer the focus stays in the details")
    none_wait(tab)


def test_axe(tab):
    """The rules of WCAG that a program can check, where axe-core is."""
    path = os.path.join(os.environ.get("IC_AGENTS", ""), "axe",
                        "node_modules", "axe-core", "axe.min.js")
    if not os.path.exists(path):
        t.skip("accessibility by axe", "axe-core is not here: ./dev test web "
               "takes it from npm")
        return
    with open(path, encoding="utf-8") as f:
        tab.eval(f.read() + "; true")
    for scheme in ("light", "dark"):
        tab.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        bad = tab.eval(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', "
            "'wcag21aa', 'best-practice']}).then(r => r.violations.map(v => "
            "v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + "
            "n.failureSummary).join('; ')))")
        t.equal(bad, [], f"axe finds nothing ({scheme})")
    tab.send("Emulation.setEmulatedMedia", features=[])


def test_always(tab, s, agent):
    """A rule for a call: shown, left, shown again, and added on a yes."""
    path = h.put(os.path.join(s.workspace, "one"), "")
    waits = agent.start_call("echo__lookup", {"path": path})
    tab.until("document.querySelector('.row.call')", "a call")
    choose(tab)
    tab.click("#always")
    tab.until("document.querySelector('#rule-text').innerText"
              ".includes('/workspace/one')", "the rule")
    t.equal(tab.eval("document.querySelector('#rule-yes').disabled"), True,
            "a rule cannot be added at once")
    t.contains(tab.text("#rule-where"), "compiled-policy.json",
               "the page says where it would be")
    picture(tab, "rule")
    tab.click("#rule-no")
    tab.until("document.querySelector('#rule').hidden", "it is left")
    t.equal(len(s.pending()), 1, "without a second yes the call waits")
    tab.click("#always")
    tab.until("!document.querySelector('#rule-yes').disabled", "ready")
    tab.click("#rule-yes")
    t.ok(not waits.wait().get("isError"), "on the second yes it is made")
    none_wait(tab)
    t.contains(tab.text("#said"), "the rule is in force", "the page says so")
    t.ok(not agent.call("echo__lookup", {"path": path}).get("isError"),
         "the same call is not asked about again")


def test_hostile(tab, agent):
    waits = agent.start_call("echo__echo", {"text": HOSTILE})
    tab.until("document.querySelector('.row.call')", "a call")
    choose(tab)
    text = tab.text("#call-text")
    t.ok("<img src=x" in text and "\\u{202e}" in text and "\\x1b" in text
         and "\u202e" not in text, "markup and controls are text", text)
    t.equal(tab.eval("document.querySelectorAll('#detail img, "
                     "#detail script').length"), 0, "nothing of it is markup")
    t.ok("gone" not in tab.eval("document.title"), "nothing of it ran")
    t.equal([x for x in tab.logged() if "Content Security" in x], [],
            "the page itself breaks no policy")
    picture(tab, "hostile")
    waits_long = agent.start_call("echo__echo", {"text": "y" * (1 << 20)})
    tab.until("document.querySelectorAll('.row.call').length === 2", "long")
    tab.click("li:last-child .row.call")
    tab.until("document.querySelector('#call-text').innerText.length"
              " > 1000000", "a call of a megabyte is shown whole")
    t.ok(True, "a call of a megabyte is shown whole")
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.click("#deny")
    waits_long.wait()
    tab.until("document.querySelectorAll('.row.call').length === 1", "one")
    choose(tab)
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.click("#deny")
    waits.wait()
    none_wait(tab)


def test_late(tab, agent):
    """An answer that is taken late moves nobody who is elsewhere by then."""
    waits = agent.start_call("echo__echo", {"text": "late"})
    tab.until("document.querySelector('.row.call')", "a call")
    choose(tab)
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.eval("window.real = window.fetch, window.fetch = (p, o) => "
             "p !== '/api/answer' ? real(p, o) : real(p, o).then((r) => "
             "new Promise((go) => { window.taken = () => { window.fetch = "
             "real; go(r); }; })), 1")
    tab.click("#deny")
    waits.wait()
    tab.until("window.taken && 1", "the answer")
    tab.click(".row.session")
    tab.click("#stop")
    tab.until("document.activeElement.id === 'stop-no'", "it asks")
    tab.eval("taken(), 1")
    tab.until("document.querySelector('#said').innerText.includes('denied')",
              "it is said")
    t.equal(focus(tab), "stop-no", "an answer that comes late takes no focus")
    tab.key("Enter", 13, "\r")
    none_wait(tab)


def test_two_tabs(browser, tab, p, agent):
    other = open_page(browser, p)
    waits = agent.start_call("echo__echo", {"text": "two tabs"})
    for x in (tab, other):
        x.until("document.querySelector('.row.call')", "a call")
        choose(x)
        x.until("!document.querySelector('#approve').disabled", "ready")
    where = "JSON.stringify(document.querySelector('#approve')" \
            ".getBoundingClientRect())"
    before = tab.eval(where)
    more = agent.start_call("echo__echo", {"text": "one more"})
    tab.until("document.querySelectorAll('.row.call').length === 2", "more")
    t.equal(tab.eval(where), before, "a call that arrives moves no button")
    other.click("#approve")
    t.ok(not waits.wait().get("isError"), "one tab approves")
    tab.until("document.querySelector('#call-name').innerText"
              ".includes('no longer')", "the other tab is told")
    t.equal(tab.eval("document.querySelector('#approve').disabled"), True,
            "and cannot answer it again")
    choose(tab)
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.click("#deny")
    more.wait()
    none_wait(tab)
    other.close()


def test_link(browser, tab, p, s, agent):
    """A link to one call logs nobody in, and is opened by a tab that is."""
    waits = [agent.start_call("echo__echo", {"text": x})
             for x in ("one of them", "the other")]
    hold = h.wait_for(lambda: [x for x in s.pending() if "the other" in
                               x["arguments"]], "the call")[0]["id"]
    end = f"#call={os.path.basename(s.dir)}/{hold}"
    other = browser.tab(p.url + end)
    other.until("document.querySelector('#login-why').innerText"
                ".includes('where you are logged in')", "it is told")
    t.equal((other.eval("document.querySelector('#page').hidden"),
             other.eval("sessionStorage.getItem('token')")), (True, None),
            "a tab that is opened by a link is not logged in")
    tab.until(f"document.querySelector('#call-text').innerText"
              f".includes('{hold}')", "the call of the link")
    t.ok("the other" in tab.text("#call-text"),
         "the tab that is shows exactly that call")
    t.equal(tab.eval("document.querySelector('#nothing').hidden"), True,
            "and asks for no choice")
    other.close()
    tab.until("!document.querySelector('#approve').disabled", "ready")
    tab.click("#approve")
    t.ok(not waits[1].wait().get("isError"), "where it is approved")
    third = browser.tab(p.url + end.replace(hold, s.pending()[0]["id"]))
    third.until("document.querySelector('#login-why').innerText"
                ".includes('where you are logged in')", "it is told")
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.click("#deny")
    t.ok(waits[0].wait().get("isError"), "and the next one is denied")
    third.close()
    # Nobody is logged in yet: the link waits for a login in another tab.
    waits = agent.start_call("echo__echo", {"text": "later"})
    hold = h.wait_for(s.pending, "the call")[0]["id"]
    tab.eval("sessionStorage.removeItem('token')")
    tab.send("Page.reload")
    tab.until("!document.querySelector('#login').hidden", "logged out")
    other = browser.tab(p.url + f"#call={os.path.basename(s.dir)}/{hold}")
    other.until("document.querySelector('#login-why').innerText"
                ".includes('logs nobody in')", "no login")
    tab.go(link(p))
    tab.until(f"document.querySelector('#call-text').innerText"
              f".includes('{hold}')", "the call of the link")
    t.ok(True, "a login afterwards, in another tab, shows it")
    tab.until("!document.querySelector('#deny').disabled", "ready")
    tab.click("#deny")
    waits.wait()
    none_wait(tab)
    other.close()


def test_sleep(tab, agent):
    """A page whose timers and requests were frozen catches up."""
    tab.send("Page.setWebLifecycleState", state="frozen")
    waits = agent.start_call("echo__echo", {"text": "while it slept"})
    tab.send("Page.setWebLifecycleState", state="active")
    tab.until("document.querySelector('.row.call')", "it has caught up")
    choose(tab)
    tab.click("#approve")
    t.ok(not waits.wait().get("isError"), "a page that slept answers")
    none_wait(tab)
    # The network goes, and comes back.
    tab.send("Network.enable")
    tab.send("Network.emulateNetworkConditions", offline=True, latency=0,
             downloadThroughput=-1, uploadThroughput=-1)
    tab.send("Page.setWebLifecycleState", state="active")
    tab.send("Network.emulateNetworkConditions", offline=False, latency=0,
             downloadThroughput=-1, uploadThroughput=-1)
    waits = agent.start_call("echo__echo", {"text": "after that"})
    tab.until("document.querySelector('.row.call')", "it is back")
    choose(tab)
    tab.click("#deny")
    waits.wait()
    none_wait(tab)


# A server of pages: the agent's in the sandbox, and one of the host.
EVIL = r"""
import http.server
class Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>dev server</title>")
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 3000), Evil)
"""
AGENT = EVIL + "server.serve_forever()"


@contextlib.contextmanager
def evil_pages(s):
    """The agent's page on the port that the session publishes, and a page of
    another program on this machine."""
    space = {}
    exec(EVIL.replace("3000", "0"), space)
    server = space["server"]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    published = s.ready["published"][0]["url"]
    try:
        yield (("published port", published),
               ("other port", f"http://127.0.0.1:{server.server_port}/"))
    finally:
        server.shutdown()


def attack(browser, p, name, url, body):
    """All that a page of another address can try, to answer a call."""
    evil = browser.tab(url)
    evil.until("document.title === 'dev server'", name)
    for mode, type_ in (("cors", "application/json"),
                        ("no-cors", "text/plain")):
        r = evil.eval(
            "fetch(%s, {method: 'POST', mode: %s, credentials: 'include',"
            " headers: {'Content-Type': %s}, body: %s})"
            ".then(r => r.type + r.status, () => 'refused')" % tuple(
                map(json.dumps, (p.url + "api/answer", mode, type_,
                                 body))))
        t.ok(r in ("refused", "opaque0"), f"{name}: {mode}", r)
    for what, code in (
            ("WebSocket", "const w = new WebSocket(%s); w.onopen = () => "
             "done('in'); w.onerror = () => done('refused');" %
             json.dumps(p.url.replace("http:", "ws:"))),
            ("image", "const i = new Image(); i.onload = () => done('in');"
             " i.onerror = () => done('refused'); i.src = %s;" %
             json.dumps(p.url + "icon.svg"))):
        r = evil.eval("new Promise(done => { %s })" % code)
        t.equal(r, "refused", f"{name}: {what}")
    evil.eval(
        "new Promise(done => { const f = document.createElement('form'), "
        "i = document.createElement('input'), w = document.createElement("
        "'iframe'); w.name = 'w'; document.body.append(w, f); f.append(i);"
        " f.method = 'post'; f.enctype = 'text/plain'; f.target = 'w'; "
        "i.name = %s; i.value = ''; f.action = %s; w.onload = done; "
        "f.submit(); })" % (json.dumps(body), json.dumps(
            p.url + "api/answer")))
    r = evil.eval(
        "new Promise(done => { const f = document.createElement('iframe');"
        " f.onload = () => { try { done(f.contentDocument ? "
        "f.contentDocument.title : 'shut'); } catch (e) { done('shut'); }"
        " }; f.src = %s; document.body.append(f); })" % json.dumps(p.url))
    t.equal(r, "shut", f"{name}: it cannot frame the page")
    t.equal(evil.eval("document.cookie"), "", f"{name}: and finds no cookie")
    t.equal(evil.eval("sessionStorage.length"), 0, f"{name}: and no login")
    evil.close()


def test_others(browser, tab, p, agent, s):
    waits = agent.start_call("echo__echo", {"text": "for others"})
    tab.until("document.querySelector('.row.call')", "a call")
    choose(tab)
    tab.until("!document.querySelector('#approve').disabled", "ready")
    hold = s.pending()[0]
    body = json.dumps({"session": os.path.basename(s.dir),
                       "call": hold["id"], "digest": hold["digest"],
                       "verdict": "approve"})
    with evil_pages(s) as pages:
        for name, url in pages:
            attack(browser, p, name, url, body)
    # Another name that leads here.
    rebound = browser.tab(f"http://rebound.test:{p.address.split(':')[1]}/")
    rebound.until("document.body && document.body.innerText", "an answer")
    t.contains(rebound.eval("document.body.innerText"), "another name",
               "another name for 127.0.0.1 gets no page")
    rebound.close()
    t.equal([x["id"] for x in s.pending()], [hold["id"]],
            "the call still waits")
    tab.click("#deny")
    waits.wait()


def test_rooms(tab, s, agent):
    """A session on the page, on a desk, in the dark, on a phone."""
    tab.click(".row.session")
    tab.until("document.querySelector('#session-name').innerText", "session")
    test_axe(tab)
    t.ok(tab.text(".row.session").startswith(os.path.basename(s.workspace)),
         "the project comes first", tab.text(".row.session"))
    t.equal(tab.eval("[document.querySelector('#say').hidden, document."
                     "querySelector('#stop').offsetParent !== null]"),
            [True, True], "a task takes no message, and can be ended")
    tab.click("#stop")
    tab.until("document.activeElement.id === 'stop-no'", "it asks")
    tab.key("Enter", 13, "\r")
    tab.until("document.querySelector('#stop-sure').hidden", "left")
    t.ok(s.pending() is not None, "End asks, and Enter leaves it")
    for name, want in (("items", "echo"), ("budget", ""), ("grants", ""),
                       ("policy", "A person decides."), ("talk", "")):
        tab.click(f"#tab-{name}")
        tab.until(f"document.querySelector('#pane').innerText"
                  f".includes({want!r})", name)
        picture(tab, name)
    tab.click("#tab-audit")
    tab.click("#pane input")
    tab.type("echo")
    tab.key("Enter", 13, "\r")
    tab.until("document.querySelectorAll('#pane li').length > 2", "records")
    t.ok(True, "the log is searched")
    picture(tab, "audit")
    tab.send("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": "dark"}])
    t.equal(tab.eval("getComputedStyle(document.body).backgroundColor"),
            "rgb(15, 23, 42)", "it is dark where the person wants that")
    tab.size(390, 844, True)
    t.ok(tab.eval("document.documentElement.scrollWidth <= 391"),
         "it fits on a phone")
    picture(tab, "phone")
    tab.size(1280, 800)
    for role in ("button", "input"):
        bad = tab.eval(
            "[...document.querySelectorAll('%s')].filter(e => "
            "e.offsetParent && !(e.innerText.trim() || e.labels?.length || "
            "e.getAttribute('aria-label'))).length" % role)
        t.equal(bad, 0, f"every {role} has a name for a screen reader")


def plan_of_start(tab):
    """Opens the plan to go back to the start, from the list."""
    tab.click("#tab-undo")
    tab.until("[...document.querySelectorAll('#pane .back')].some(e => "
              "e.innerText === 'the start')", "the checkpoints")
    tab.eval("[...document.querySelectorAll('#pane .back')].find(e => "
             "e.innerText === 'the start').click()")
    tab.until("document.querySelector('#undo-plan')", "the plan", 30)


def test_undo(tab, s):
    """A plan, which is shown whole, left, shown again, and done on a yes."""
    path = os.path.join(s.workspace, "kept")
    odd = os.path.join(s.workspace, "<b>x</b>\u202etxt")
    tab.click(".row.session")
    with open(path, encoding="utf-8") as f:
        before = f.read()
    h.put(path, "changed\n")
    h.put(odd, "new\n")
    plan_of_start(tab)
    t.equal(tab.eval("document.querySelector('#undo-yes').disabled"), True,
            "an undo cannot be done at once")
    text = tab.text("#undo-plan")
    t.ok("kept" in text and "<b>x</b>\\u{202e}txt" in text and
         "Go away (" in text, "the plan is shown whole, as text", text)
    test_axe(tab)
    picture(tab, "undo")
    tab.until("!document.querySelector('#undo-yes').disabled", "ready")
    h.put(os.path.join(s.workspace, "later"), "of the person\n")
    tab.click("#undo-yes")
    tab.until("document.querySelector('#said').innerText.includes('not those "
              "of that plan')", "another plan", 30)
    t.ok(os.path.exists(odd), "a yes to another plan than that of now does "
         "nothing")
    plan_of_start(tab)
    t.contains(tab.text("#undo-plan"), "later", "the new plan has it")
    tab.until("!document.querySelector('#undo-yes').disabled", "ready")
    tab.click("#undo-yes")
    tab.until("document.querySelector('#said').innerText.includes('The files "
              "are back')", "done", 30)
    with open(path, encoding="utf-8") as f:
        t.equal((f.read(), os.path.exists(odd)), (before, False),
                "on the second yes the files are back")


def test_death(tab, p, s):
    os.kill(s.pid, 9)
    s.wait()
    tab.until("[...document.querySelectorAll('.row.session small')].some("
              "e => e.parentElement.classList.contains('over') || "
              "/lost|closed|over/.test(e.innerText)) || "
              "document.querySelectorAll('.row.over').length", "its death", 60)
    t.ok(True, "a session that dies is told")
    p.stop()
    tab.until("document.querySelector('#line').innerText.includes('cannot "
              "reach')", "the end of the page")
    t.ok(True, "a page whose icctl web has ended says so")


def main():
    if chromium.program() is None:
        print("1..0 # SKIP chromium is not installed (./dev test web "
              "installs it)")
        return
    with h.workdir() as work:
        log = os.path.join(work, "log", "log.jsonl")
        s = h.Session(work, {"echo": h.echo_server(log)}, RULES,
                      {"echo": h.ECHO_TOOLS}, session_dir=os.path.join(
                          work, "home", "sessions", "one"), runtime="bwrap",
                      options=("--publish", "3000", "--agent", "command",
                               "--", "/usr/bin/python3", "-c", AGENT))
        browser = None
        h.put(os.path.join(s.workspace, "kept"), "as at the start\n")
        with s:
            agent = s.client()
            p = webpage.Page(os.path.join(work, "home"))
            try:
                browser = chromium.Browser(
                    work, "--host-resolver-rules=MAP rebound.test 127.0.0.1")
                tab = test_login(browser, p)
                tab.size(1280, 800)
                test_answers(tab, s, agent)
                test_keys(tab, agent)
                test_by_keys_only(tab, s, agent)
                test_always(tab, s, agent)
                test_hostile(tab, agent)
                test_late(tab, agent)
                test_two_tabs(browser, tab, p, agent)
                test_link(browser, tab, p, s, agent)
                test_sleep(tab, agent)
                test_others(browser, tab, p, agent, s)
                test_rooms(tab, s, agent)
                test_undo(tab, s)
                test_death(tab, p, s)
            finally:
                if browser:
                    browser.end()
    t.done()


main()
