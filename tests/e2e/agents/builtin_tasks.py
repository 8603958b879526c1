# SPDX-License-Identifier: ISC
"""The scripted tasks of the built-in agent: for each, what the model says in a
mode, and whether the turn went as it must."""
import json

# A text that some layer could take for something else.
ODD = "größe \U0001f40c \\ \" ' </script> ${x} `y` %s \t\n--\n{\"a\":1}"


def texts(events, name="agent_text"):
    return "".join(e.get("text", "") for e in events if e["event"] == name)


def ended(events):
    return [e["status"] for e in events if e["event"] == "turn_end"]


def decisions(events):
    return [(e["tool"], e["decision"]) for e in events
            if e["event"] == "tool_call" and e["decision"] != "own"]


def program(code):
    return [{"tool": "execute_code", "args": {"code": code}}]


def calls(mode, tool, times=1, **args):
    """Returns steps that call a tool."""
    if mode == "code":
        return program(f"return srv.{tool}({json.dumps(args)})") * times
    return [{"tool": f"srv__{tool}$", "args": args}] * times


def final(text="Final: $RESULT"):
    return [{"text": text}]


def done(events):
    return ended(events) == ["completed"]


def said(*words, made=None, status="completed"):
    """Returns a check: these words in the answer, these calls, this end."""
    def check(_, events):
        return (all(w in texts(events) for w in words) and
                (made is None or decisions(events) == made) and
                ended(events) == [status])
    return check


def told(*words):
    """Returns a check: the turn fails, and an error has these words."""
    def check(_, events):
        return (all(w in texts(events, "error") for w in words) and
                ended(events) == ["failed"])
    return check


def task_allowed(_, events):
    return (texts(events).count("Final: ") == 1 and "hello" in texts(events)
            and decisions(events) == [("echo", "allow")])


def task_big(a, _):
    body = a.bodies()[-1]
    return "truncated" in body and len(body) < 400000


def task_odd(a, events):
    """The server got exactly the text that the model wrote."""
    with open(a.log, encoding="utf-8") as f:
        got = [json.loads(json.loads(line)["text"]) for line in f
               if '"line"' in line]
    return done(events) and any(
        m.get("params", {}).get("arguments") == {"text": ODD} for m in got)


def task_broken(a, events):
    return ("after a break" in texts(events) and done(events) and
            "Trying again" in a.s.session_log())


def task_cut(a, events):
    return ("Half of a" in texts(events) and done(events) and
            "limit of one answer" in a.s.session_log())


def task_raw(a, events):
    if a.provider == "google":  # its arguments are never a text
        return done(events)
    return "not one complete JSON object" in texts(events) and \
        decisions(events) == []


def task_stuck(a, events):
    """Different calls that all fail: the model is told to think again."""
    return ("Think again" in texts(events) or "Think again" in
            a.bodies()[-1]) and decisions(events) == [("lookup", "deny")] * 6


def task_cached(a, events):
    """Anthropic is told what to keep; others keep it by themselves."""
    marks = a.bodies()[-1].count('"cache_control"')
    return done(events) and (1 <= marks <= 4 if a.provider == "anthropic"
                             else marks == 0)


def task_long(a, events):
    """The conversation is said to have 160,000 tokens: the next request has a
    summary of it, or the person's words where the script has none."""
    last = a.bodies()[-1]
    return done(events) and "allowed: please\"" not in last and (
        "Summary of the conversation" in last or
        "earlier conversation was removed" in last)


def steps_two(mode):
    if mode == "code":
        return program(
            "srv.echo({text: 'a'}); try { srv.lookup({path: '/etc'}) } "
            "catch (e) { console.log('caught', e.message) } "
            "return srv.echo({text: 'b'})")
    return (calls(mode, "echo", text="a") + calls(mode, "lookup", path="/etc")
            + calls(mode, "echo", text="b"))


def steps_ten(mode):
    if mode == "code":
        return program("let s = ''; for (let i = 0; i < 10; i++) "
                       "s += srv.echo({text: 'n' + i}); return s")
    return [s for i in range(10) for s in calls(mode, "echo", text=f"n{i}")]


def steps_turns(mode):
    """Two calls by turns, each with the same result."""
    return (calls(mode, "echo", text="a") + calls(mode, "echo", text="b")) * 6


def steps_failing(mode):
    return [s for i in range(6)
            for s in calls(mode, "lookup", path=f"/etc/{i}")]


TASKS = {
    "allowed": (lambda m: calls(m, "echo", text="hello"), task_allowed),
    "denied": (lambda m: calls(m, "lookup", path="/etc/x"),
               said("DENIED", made=[("lookup", "deny")])),
    "error": (lambda m: calls(m, "fail", text="no such luck"),
              said("no such luck")),
    "two": (steps_two, said(made=[("echo", "allow"), ("lookup", "deny"),
                                  ("echo", "allow")])),
    "big": (lambda m: calls(m, "big", bytes=300000), task_big),
    "loop": (lambda m: calls(m, "echo", 6, text="x"),
             said("Not called", made=[("echo", "allow")] * 5)),
    "unknown": (lambda m: [{"call": "rm_rf", "args": {"a": 1}}],
                said("no tool of this name", made=[])),
    "retry": (lambda m: [{"status": 529, "times": 1, "text": "after all"}],
              said("after all")),
    "refused": (lambda m: [{"status": 404, "times": 9,
                            "error": "no such model"}],
                told("no such model")),
    "words": (lambda m: [{"text": "Nothing to do."}],
              said("Nothing to do.", made=[])),
    "ten": (steps_ten, said("n9", made=[("echo", "allow")] * 10)),
    "turns": (steps_turns, said("Not called", made=[("echo", "allow")] * 10)),
    "failing": (steps_failing, task_stuck),
    "odd": (lambda m: calls(m, "echo", text=ODD), task_odd),
    "none": (lambda m: calls(m, "echo", text=""),
             said(made=[("echo", "allow")])),
    "missing": (lambda m: calls(m, "echo"), said("text")),
    "extra": (lambda m: calls(m, "echo", text="x", txt="y"), said("txt")),
    "kind": (lambda m: calls(m, "echo", text=[5]), said("text")),
    "large": (lambda m: calls(m, "echo", text="y" * 150000),
              said("truncated", made=[("echo", "allow")])),
    "members": (lambda m: calls(m, "structured"),
                said("{", made=[("structured", "allow")])),
    "secret": (lambda m: calls(m, "lookup", path="~/.ssh/id_ed25519"),
               said("DENIED", made=[("lookup", "deny")])),
    "twice": (lambda m: [{**calls(m, "echo", text="two")[0], "twice": True},
                         {"text": "skipped"}],
              said("two", made=[("echo", "allow")] * 2)),
    "cut": (lambda m: [{"text": "Half of a", "stop": "length"}],
            task_cut),
    "raw": (lambda m: [{**calls(m, "echo", text="x")[0],
                        "raw": '{"text": "x'}], task_raw),
    "unwilling": (lambda m: [{"text": "No.", "stop": "refused"}],
                  told("refused to answer")),
    "broken": (lambda m: [{"text": "after a break", "broken": 1}],
               task_broken),
    "rate": (lambda m: [{"status": 429, "times": 1, "text": "went through",
                         "type": "rate_limit_error"}], said("went through")),
    "cached": (lambda m: calls(m, "echo", text="kept"), task_cached),
}
# The last ones, because they change the conversation.
LAST = {
    "long": (lambda m: [{**calls(m, "echo", text="z")[0], "tokens": 160000}],
             task_long),
}


def steps(name, mode):
    """Returns the whole script of a task."""
    own = {**TASKS, **LAST}[name][0](mode)
    return own if name != "twice" and (
        "text" in own[-1] or "status" in own[-1]) else own + final()
