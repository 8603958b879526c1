# SPDX-License-Identifier: ISC
"""The answers of model providers: Anthropic Messages, OpenAI Responses
(classic and "code mode"), OpenAI chat completions, Gemini.  Keeps no state:
the number of tool results in the conversation is the step of the script, except
for the refusals that were given.

A script is a list of steps: {"tool": "regex", "args": {...}} calls the first
offered tool that matches; {"text": "... $RESULT ..."} is the final answer, in
which $RESULT is the last tool result; {"call": "name", "args": {...}} calls a
tool by that name, offered or not; {"status": 529, "times": 2, "error": "..."}
refuses the request so many times, before the rest of the step applies, with
the fields of "headers" in its answer, and "body" in place of the usual one.  A
step of a stream may have "stop": "length" or "refused", the reason for which it
ends; "broken": how many times the stream ends in the middle; "stalls": true: it
stays open in the middle until the client closes it; "tokens": how long the
conversation is said to be; "raw": arguments of a call as text; "twice": the call is made two times at once,
so that two results follow, and the next step of the script is skipped.  After the last
step, or if no offered
tool matches, the answer is a final text.

A script is otherwise an object of lists: the steps of each turn, under a word
with which the person's message of that turn begins."""
import itertools
import json
import re
import threading
import time

DEFAULT_SCRIPT = [{"text": "FINAL: hello"}]
_count = itertools.count(1)
_refused = {}
_now = threading.local()
STOPS = {"length": ("max_tokens", "length", "MAX_TOKENS", "max_output_tokens"),
         "refused": ("refusal", "content_filter", "SAFETY", "content_filter")}


class Refused(Exception):
    """A step that refuses the request."""

    def __init__(self, step):
        super().__init__(step["status"])
        self.status = step["status"]
        self.headers = list(step.get("headers", {}).items())
        self.body = step.get("body") or {"type": "error", "error": {
            "type": step.get("type", "api_error"),
            "message": step.get("error", "as the script says")}}


def flat(content):
    """Returns the text of a tool result, whatever its shape."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            p if isinstance(p, str) else
            p.get("text") or p.get("output") or flat(p.get("content", ""))
            for p in content if isinstance(p, (str, dict)))
    return json.dumps(content) if isinstance(content, dict) else ""


def policy_steps(rows, text):
    """Returns the steps of the answer to a step of icctl policy: those of the
    first row with its name and, if it has "match", with text that matches.
    "reply" is an object or a text, "size" stands for so many bytes, "calls" are
    steps before it."""
    step = re.search(r"^Step: (\S+)$", text, re.M)
    for row in rows:
        if step and row["step"] == step[1] and \
                re.search(row.get("match", ""), text, re.S):
            time.sleep(row.get("delay", 0))
            reply = "x" * row["size"] if "size" in row else row["reply"]
            return [*row.get("calls", []), {
                "text": reply if isinstance(reply, str)
                else json.dumps(reply)}]
    return [{"text": "no row for this step"}]


def current(script, said):
    """Returns the steps and their results so far.  said: the texts of the
    person and of tools in their order, as ("text" or "result", text)."""
    if isinstance(script, dict) and "policy" in script:
        if "task" in script and not any(re.search(r"^Step: ", x, re.M)
                                        for _, x in said):
            return script["task"], [x for kind, x in said if kind == "result"]
        return (policy_steps(script["policy"], "\n".join(
            x for kind, x in said if kind == "text")),
            [x for kind, x in said if kind == "result"])
    if isinstance(script, list):
        return script, [x for kind, x in said if kind == "result"]
    steps, results = [], []
    for kind, x in said:
        word = re.search(r"\b(" + "|".join(script) + r"):", x)
        if kind == "result":
            results.append(x)
        elif word:
            steps, results = script[word[1]], []
    return steps, results


def parts_of(content):
    """Returns the parts of a message's content."""
    return content if isinstance(content, list) else [
        {"type": "text", "text": content or ""}]


def decide(script, names, results):
    """Returns (tool, args, call id) or (None, text, None)."""
    step = script[len(results)] if len(results) < len(script) else {}
    _now.step = step
    if "status" in step:
        given = _refused.get(id(step), 0)
        if given < step.get("times", 1):
            _refused[id(step)] = given + 1
            raise Refused(step)
    if "call" in step:
        return step["call"], step.get("args", {}), f"call_{next(_count)}"
    if "tool" in step:
        for name in names:
            if re.search(step["tool"], name):
                return name, step.get("args", {}), f"call_{next(_count)}"
    last = results[-1] if results else "(no tool result)"
    text = step.get("text", "FINAL: $RESULT" if results else
                    "FINAL: no tool called")
    return None, text.replace("$RESULT", last), None


def anthropic(script, body):
    """Returns (events, reply): the events of a stream, and the whole message.
    """
    script, results = current(script, [
        ("result", flat(part.get("content", "")))
        if part.get("type") == "tool_result" else
        ("text", part.get("text", ""))
        for message in body.get("messages", [])
        if message.get("role") == "user"
        for part in parts_of(message.get("content"))])
    names = [t.get("name", "") for t in body.get("tools", [])]
    tool, value, call = decide(script, names, results)
    step = script[len(results)] if len(results) < len(script) else {}
    usage = {"input_tokens": 100, "output_tokens": 20,
             "cache_creation_input_tokens": 0,
             "cache_read_input_tokens": step.get("cached", 0)}
    if tool:
        block = {"type": "tool_use", "id": "toolu_" + call, "name": tool,
                 "input": value}
        first = dict(block, input={})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(value)}
    else:
        block = {"type": "text", "text": value}
        first = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": value}
    stop = "tool_use" if tool else "end_turn"
    message = {"id": f"msg_{next(_count)}", "type": "message",
               "role": "assistant", "model": body.get("model"),
               "content": [block], "stop_reason": stop, "stop_sequence": None,
               "usage": usage}
    start = dict(message, content=[], stop_reason=None,
                 usage=dict(usage, output_tokens=1))
    events = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": first},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta",
         "delta": {"stop_reason": stop, "stop_sequence": None},
         "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    return events, message


def _responses_tools(body):
    """Returns {offered name: members that the call must have}, the texts of
    the person and of tools, and the namespace of code mode or None."""
    names = {}
    for tool in body.get("tools", []):
        if tool.get("type") == "function":
            names[tool["name"]] = {"name": tool["name"]}
        elif tool.get("type") == "namespace":
            for f in tool.get("tools", []):
                full = tool["name"].rstrip("_") + "__" + f["name"]
                names[full] = {"name": f["name"], "namespace": tool["name"]}
    said, code = [], None
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        if item.get("type") in ("function_call_output",
                                "custom_tool_call_output"):
            said.append(("result", flat(item.get("output"))))
        if item.get("role") == "user":
            said += [("text", p.get("text", ""))
                     for p in parts_of(item.get("content"))]
        if item.get("type") == "additional_tools":
            for space in item.get("tools", []):
                if any(f.get("name") == "exec" and f.get("type") == "custom"
                       for f in space.get("tools", [])):
                    code = space["name"]
    return names, said, code


def _item_events(item, start, middle):
    """Returns the events of an item: added, its own events, done."""
    events = [{"type": "response.output_item.added", "output_index": 0,
               "item": start}]
    for event in middle:
        events.append(dict(event, item_id=item["id"], output_index=0))
    events.append({"type": "response.output_item.done", "output_index": 0,
                   "item": item})
    return events


def _responses_item(script, body, number):
    names, said, code = _responses_tools(body)
    script, results = current(script, said)
    step = script[len(results)] if len(results) < len(script) else {}
    if code and "tool" in step:
        source = (f"const n = ALL_TOOLS.map((t) => t.name).find((n) => "
                  f"/{step['tool']}/.test(n)); "
                  f"text(await tools[n]({json.dumps(step.get('args', {}))}));")
        item = {"type": "custom_tool_call", "id": f"ctc_{number}",
                "call_id": f"call_{next(_count)}", "name": "exec",
                "namespace": code, "input": source, "status": "completed"}
        kind = "response.custom_tool_call_input"
        return item, _item_events(
            item, dict(item, input="", status="in_progress"),
            [{"type": kind + ".delta", "delta": source},
             {"type": kind + ".done", "input": source}])
    tool, value, call = decide(script, names, results)
    if tool:
        args = json.dumps(value)
        item = {"type": "function_call", "id": f"fc_{number}",
                "call_id": call, **names.get(tool, {"name": tool}),
                "arguments": args,
                "status": "completed"}
        kind = "response.function_call_arguments"
        return item, _item_events(
            item, dict(item, arguments="", status="in_progress"),
            [{"type": kind + ".delta", "delta": args},
             {"type": kind + ".done", "arguments": args}])
    part = {"type": "output_text", "text": value, "annotations": []}
    item = {"type": "message", "id": f"msg_{number}", "role": "assistant",
            "status": "completed", "content": [part]}
    return item, _item_events(
        item, dict(item, content=[], status="in_progress"),
        [{"type": "response.content_part.added", "content_index": 0,
          "part": dict(part, text="")},
         {"type": "response.output_text.delta", "content_index": 0,
          "delta": value},
         {"type": "response.output_text.done", "content_index": 0,
          "text": value}])


def responses(script, body):
    number = next(_count)
    item, middle = _responses_item(script, body, number)
    base = {"id": f"resp_{number}", "object": "response",
            "created_at": int(time.time()), "model": body.get("model"),
            "status": "in_progress", "output": []}
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}
    reply = dict(base, status="completed", output=[item], usage=usage)
    events = ([{"type": "response.created", "response": base}] + middle +
              [{"type": "response.completed", "response": reply}])
    for n, event in enumerate(events):
        event["sequence_number"] = n
    return events, reply


def chat(script, body):
    script, results = current(script, [
        ("result" if m["role"] == "tool" else "text", flat(m.get("content")))
        for m in body.get("messages", []) if m.get("role") in ("tool", "user")])
    names = [t.get("function", {}).get("name", "")
             for t in body.get("tools", [])]
    tool, value, call = decide(script, names, results)
    base = {"id": f"chatcmpl-{next(_count)}", "created": int(time.time()),
            "model": body.get("model")}
    usage = {"prompt_tokens": 100, "completion_tokens": 20,
             "total_tokens": 120}
    message = {"role": "assistant", "content": None if tool else value}
    if tool:
        message["tool_calls"] = [
            {"index": 0, "id": call, "type": "function",
             "function": {"name": tool, "arguments": json.dumps(value)}}]
    stop = "tool_calls" if tool else "stop"
    reply = dict(base, object="chat.completion", usage=usage, choices=[
        {"index": 0, "message": message, "finish_reason": stop}])
    chunk = dict(base, object="chat.completion.chunk")
    events = [
        dict(chunk, choices=[{"index": 0, "delta": message,
                              "finish_reason": None}]),
        dict(chunk, choices=[{"index": 0, "delta": {},
                              "finish_reason": stop}]),
    ]
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append(dict(chunk, choices=[], usage=usage))
    events.append("[DONE]")
    return events, reply


def gemini(script, body):
    script, results = current(script, [
        ("result", flat(p["functionResponse"].get("response", {}).get(
            "output", p["functionResponse"].get("response"))))
        if "functionResponse" in p else ("text", p.get("text", ""))
        for c in body.get("contents", []) if c.get("role") != "model"
        for p in c.get("parts", [])])
    names = [f.get("name", "") for t in body.get("tools", [])
             for f in t.get("functionDeclarations", [])]
    tool, value, _ = decide(script, names, results)
    if body.get("generationConfig", {}).get("responseMimeType") == \
            "application/json":
        # Its router requests which model to use.
        tool, value = None, '{"reasoning": "any", "model_choice": "flash"}'
    part = {"functionCall": {"name": tool, "args": value}} if tool else \
        {"text": value}
    reply = {"candidates": [{"content": {"role": "model", "parts": [part]},
                             "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": 100,
                               "candidatesTokenCount": 20,
                               "totalTokenCount": 120},
             "modelVersion": "test-model"}
    return [reply], reply


def event_bytes(event):
    """Returns one server-sent event."""
    if isinstance(event, str):
        return b"data: " + event.encode() + b"\n\n"
    name = f"event: {event['type']}\n" if "type" in event else ""
    return (name + "data: " + json.dumps(event) + "\n\n").encode()


APIS = {"/v1/messages": anthropic, "/v1/responses": responses,
        "/v1/chat/completions": chat, "/api/v1/chat/completions": chat,
        "/backend-api/codex/responses": responses}


def _twisted(event, step):
    """Changes an event as the step says: why the answer ends, and how many
    tokens were used."""
    text = json.dumps(event)
    for plain, names in (("end_turn", 0), ("stop", 1), ("STOP", 2)):
        if "stop" in step:
            text = re.sub(r'("(?:stop_reason|finish_reason|finishReason)": )"'
                          + plain + '"',
                          rf'\1"{STOPS[step["stop"]][names]}"', text)
    if "stop" in step and '"response.completed"' in text:
        text = text.replace('"response.completed"', '"response.incomplete"')
        event = json.loads(text)
        event["response"]["incomplete_details"] = {
            "reason": STOPS[step["stop"]][3]}
        text = json.dumps(event)
    if "tokens" in step:
        text = re.sub(r'("(?:input_tokens|prompt_tokens|promptTokenCount)": )'
                      r"\d+", rf"\g<1>{step['tokens']}", text)
    if "raw" in step:
        text = text.replace(json.dumps(json.dumps(step.get("args", {}))),
                            json.dumps(step["raw"]))
    return json.loads(text)


def _again(text):
    """Returns an event's text with another id of the call and another place."""
    text = re.sub(r'"((?:toolu_)?call_|fc_)(\d+)"', r'"\g<1>\g<2>0"', text)
    return re.sub(r'("(?:index|output_index)": )0', r"\g<1>1", text)


def _twice(events):
    """Returns the events with each call in them made twice."""
    out, block = [], []
    for event in events:
        text = event if isinstance(event, str) else json.dumps(event)
        kind = "" if isinstance(event, str) else event.get("type", "")
        if '"tool_calls": [' in text:           # chat
            [call] = event["choices"][0]["delta"]["tool_calls"]
            event["choices"][0]["delta"]["tool_calls"].append(
                json.loads(_again(json.dumps(call))))
        elif '"functionCall"' in text:          # Gemini
            event["candidates"][0]["content"]["parts"] *= 2
        out.append(event)
        if kind.startswith(("content_block", "response.output_item",
                            "response.function_call")):
            block.append(json.loads(_again(text)))
        if kind in ("content_block_stop", "response.output_item.done"):
            out, block = out + block, []
    return out


def twist(events):
    """Returns the events as the present step says."""
    step = getattr(_now, "step", {})
    given = _refused.get(id(step), 0)
    if "twice" in step:
        events = _twice(events)
    events = [e if isinstance(e, str) else _twisted(e, step) for e in events]
    if given < step.get("broken", 0):
        _refused[id(step)] = given + 1
        return events[:len(events) // 2]
    return events


def stream(events):
    """Returns the parts of the stream; None stands for a wait until the client
    has closed it."""
    parts = [event_bytes(e) for e in twist(events)]
    if getattr(_now, "step", {}).get("stalls"):
        whole = b"".join(parts)
        return [whole[:len(whole) // 2], None]
    return parts


def answer(script, method, target, body):
    """Returns ("sse", [bytes...]) or ("json", status, object)."""
    try:
        return _answer(script, method, target, body)
    except Refused as e:
        return ("json", e.status, e.body, *e.headers)


def _answer(script, method, target, body):
    path = target.split("?")[0]
    if method == "GET" and path == "/v1/models":
        return ("json", 200, {"object": "list", "has_more": False, "data": [
            {"id": "test-model", "object": "model", "type": "model",
             "display_name": "Test", "created": 1, "owned_by": "standin",
             "created_at": "2026-01-01T00:00:00Z"}]})
    if method == "GET" and path.endswith("/wham/accounts/check"):
        return ("json", 200, {"accounts": [{
            "id": "00000000-0000-4000-8000-000000000000",
            "workspace_backend_origin": "https://chatgpt.com",
            "account_routing_override": "NO_CONSTRAINT"}]})
    if method == "POST" and path == "/v1/messages/count_tokens":
        return ("json", 200, {"input_tokens": 100})
    if method == "POST" and re.fullmatch(
            r"/v1beta/models/[^/]+:(streamG|g)enerateContent", path):
        events, reply = gemini(script, body)
        if ":stream" in path:
            return ("sse", stream(events))
        return ("json", 200, reply)
    if method == "POST" and path in APIS:
        if not isinstance(body, dict):
            return ("json", 400, {"type": "error", "error": {
                "type": "invalid_request_error", "message": "not JSON"}})
        events, reply = APIS[path](script, body)
        if body.get("stream"):
            return ("sse", stream(events))
        return ("json", 200, reply)
    return ("json", 404, {"type": "error", "error": {
        "type": "not_found_error", "message": "stand-in: no such endpoint"}})
