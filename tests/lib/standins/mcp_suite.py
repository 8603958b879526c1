#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The MCP server that the official conformance suite expects: its tools,
resources and prompts, in both revisions, on stdio or for each connection to
the Unix socket of --listen. Shares no code with the product."""
import argparse
import hashlib
import hmac
import json
import os
import secrets
import socketserver
import sys
import threading

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
KEY = secrets.token_bytes(16)
PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAE"
       "hQGAhKmMIQAAAABJRU5ErkJggg==")
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
INFO = {"name": "suite", "version": "1"}
CAPS = {"tools": {"listChanged": True}, "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "logging": {}, "completions": {}}
CACHED = ("server/discover", "tools/list", "prompts/list", "resources/list",
          "resources/templates/list", "resources/read")
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert",
          "emergency")
TEXT = {"type": "string"}


def schema(required=(), **properties):
    return {"type": "object", "properties": properties,
            "required": list(required)}


def choices(*pairs):
    return [{"const": c, "title": n} for c, n in pairs]


ENUMS = schema(
    untitledSingle={"type": "string", "enum": ["option1", "option2",
                                               "option3"]},
    titledSingle={"type": "string", "oneOf": choices(
        ("value1", "One"), ("value2", "Two"), ("value3", "Three"))},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["One", "Two", "Three"]},
    untitledMulti={"type": "array", "minItems": 1, "maxItems": 3, "items": {
        "type": "string", "enum": ["option1", "option2", "option3"]}},
    titledMulti={"type": "array", "minItems": 1, "maxItems": 3, "items": {
        "anyOf": choices(("value1", "One"), ("value2", "Two"),
                         ("value3", "Three"))}})
DEFAULTS = schema(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"],
            "default": "active"},
    verified={"type": "boolean", "default": True})
ADDRESS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
                          "properties": {"street": TEXT, "city": TEXT}}},
    "properties": {"name": TEXT, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string",
                                     "enum": ["phone", "email"]},
                   "phone": TEXT, "email": TEXT},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}},
           "required": ["contactMethod"]},
    "then": {"required": ["phone"]}, "else": {"required": ["email"]},
    "additionalProperties": False}
HIDDEN = schema(region={"type": "string", "x-mcp-header": "Region"},
                query=TEXT)
TOOLS = {
    "test_simple_text": schema(), "test_image_content": schema(),
    "test_audio_content": schema(), "test_embedded_resource": schema(),
    "test_multiple_content_types": schema(),
    "test_tool_with_logging": schema(), "test_tool_with_progress": schema(),
    "test_error_handling": schema(), "test_sampling": schema(prompt=TEXT),
    "test_elicitation": schema(message=TEXT),
    "test_elicitation_sep1034_defaults": schema(),
    "test_elicitation_sep1330_enums": schema(),
    "json_schema_2020_12_tool": ADDRESS, "test_missing_capability": schema(),
    "test_streaming_elicitation": schema(), "test_logging_tool": schema(),
    "test_trigger_tool_change": schema(),
    "test_trigger_prompt_change": schema(), "test_x_mcp_header": HIDDEN,
    "comes_and_goes": schema(),
    **{"test_input_required_result_" + n: schema() for n in (
        "elicitation", "sampling", "list_roots", "request_state",
        "multiple_inputs", "multi_round", "tampered_state", "capabilities")},
}
RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "A text."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}
PROMPTS = {
    "test_simple_prompt": (), "test_prompt_with_image": (),
    "comes_and_goes": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_input_required_result_prompt": (),
}


class Shared:
    """The state of all connections together."""
    lock = threading.Lock()
    listens = []
    fewer = {"tools": False, "prompts": False}
    legacy = False
    servers = set()


class Failed(Exception):
    def __init__(self, code, text, data=None):
        super().__init__(text)
        self.error = {"code": code, "message": text,
                      **({"data": data} if data else {})}


def text(value):
    return {"type": "text", "text": value}


def form(message, **properties):
    return {"method": "elicitation/create", "params": {
        "message": message, "requestedSchema": schema(
            tuple(properties), **properties)}}


def sample(prompt):
    return {"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": text(prompt)}],
        "maxTokens": 50}}


def sign(kind):
    data = json.dumps({"kind": kind, "nonce": secrets.token_hex(8)})
    return data + "." + hmac.new(KEY, data.encode(),
                                 hashlib.sha256).hexdigest()


def signed(state, kind):
    data, _, mac = state.rpartition(".")
    good = hmac.new(KEY, data.encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(mac, good) and json.loads(data)["kind"] == kind


class Server:
    """One connection."""

    def __init__(self, out):
        self.out, self.lock = out, threading.Lock()
        self.level, self.asked, self.count = "info", {}, 0
        Shared.servers.add(self)

    def send(self, **message):
        with self.lock:
            self.out.write((json.dumps({"jsonrpc": "2.0", **message}) +
                            "\n").encode())
            self.out.flush()

    def notify(self, method, **params):
        self.send(method="notifications/" + method, params=params)

    def ask(self, method, params):
        """Ask an older client, and wait for what it says."""
        done = threading.Event()
        with self.lock:
            self.count += 1
            ident = f"ask-{self.count}"
        self.asked[ident] = [done, None]
        self.send(id=ident, method=method, params=params)
        if not done.wait(60):
            raise Failed(-32603, "no answer")
        m = self.asked.pop(ident)[1]
        if "result" not in m:
            raise Failed(-32603, "not supported")
        return m["result"]

    def take(self, line):
        m = json.loads(line)
        ident, method = m.get("id"), m.get("method")
        params = m.get("params") or {}
        if method is None:
            if ident in self.asked:
                self.asked[ident][1] = m
                self.asked[ident][0].set()
        elif method == "notifications/cancelled":
            with Shared.lock:
                Shared.listens[:] = [
                    x for x in Shared.listens
                    if x[:2] != (self, params.get("requestId"))]
        elif ident is not None:
            threading.Thread(target=self.answer, daemon=True,
                             args=(ident, method, params)).start()

    def end(self):
        with Shared.lock:
            Shared.servers.discard(self)
            Shared.listens[:] = [x for x in Shared.listens if x[0] != self]

    def answer(self, ident, method, params):
        meta = params.get("_meta") or {}
        modern = META + "protocolVersion" in meta or \
            method == "server/discover"
        try:
            if modern and Shared.legacy:
                raise Failed(-32601, "Method not found")
            if modern:
                self.check(meta)
            result = self.result(ident, method, params, modern and meta)
            if result is None:
                return
            if modern:
                result.setdefault("resultType", "complete")
                if method in CACHED:
                    result.update(ttlMs=60000, cacheScope="public")
        except Failed as e:
            result = None
            error = e.error
        try:
            if result is None:
                self.send(id=ident, error=error)
            else:
                self.send(id=ident, result=result)
        except (OSError, ValueError):
            pass  # the client has gone

    @staticmethod
    def check(meta):
        version = meta.get(META + "protocolVersion")
        if version is None or META + "clientCapabilities" not in meta:
            raise Failed(-32602, "_meta lacks a required member")
        if version != MODERN:
            raise Failed(-32022, "Unsupported protocol version",
                         {"supported": [MODERN], "requested": version})

    def result(self, ident, method, params, meta):
        if not meta and method == "initialize":
            return {"protocolVersion": params.get("protocolVersion"),
                    "capabilities": CAPS, "serverInfo": INFO}
        if not meta and method == "ping":
            return {}
        if not meta and method == "logging/setLevel":
            self.level = params["level"]
            return {}
        if not meta and method in ("resources/subscribe",
                                   "resources/unsubscribe"):
            return {}
        if meta and method == "server/discover":
            return {"supportedVersions": [MODERN], "capabilities": CAPS,
                    "_meta": {META + "serverInfo": INFO}}
        if meta and method == "subscriptions/listen":
            return self.listen(ident, params)
        part = {"tools/list": self.tools, "prompts/list": self.prompts,
                "resources/list": self.resources,
                "resources/templates/list": self.templates,
                "resources/read": self.read, "prompts/get": self.prompt,
                "completion/complete": self.complete,
                "tools/call": self.call}.get(method)
        if part is None:
            raise Failed(-32601, "Method not found")
        return part(params, meta)

    def listen(self, ident, params):
        wants = {k: v for k, v in params["notifications"].items() if v}
        with Shared.lock:
            Shared.listens.append((self, ident, wants))
        self.notify("subscriptions/acknowledged", notifications=wants,
                    _meta={META + "subscriptionId": ident})

    @staticmethod
    def change(what):
        """List one less, or it again, and say so."""
        with Shared.lock:
            Shared.fewer[what] = not Shared.fewer[what]
            told = [x for x in Shared.listens if x[2].get(
                what + "ListChanged")]
        for server, ident, _ in told:
            server.notify(what + "/list_changed",
                          _meta={META + "subscriptionId": ident})
        for server in list(Shared.servers) if Shared.legacy else ():
            server.notify(what + "/list_changed")

    @staticmethod
    def tools(_params, _meta):
        return {"tools": [
            {"name": n, "description": "The tool " + n, "inputSchema": s}
            for n, s in TOOLS.items()
            if not (Shared.fewer["tools"] and n == "comes_and_goes")]}

    @staticmethod
    def prompts(_params, _meta):
        return {"prompts": [
            {"name": n, "description": "The prompt " + n, "arguments": [
                {"name": a, "description": a, "required": True}
                for a in args]} for n, args in PROMPTS.items()
            if not (Shared.fewer["prompts"] and n == "comes_and_goes")]}

    @staticmethod
    def resources(_params, _meta):
        return {"resources": [
            {"uri": u, "name": u[7:], "description": u[7:],
             "mimeType": r["mimeType"]} for u, r in RESOURCES.items()]}

    @staticmethod
    def templates(_params, _meta):
        return {"resourceTemplates": [
            {"uriTemplate": "test://template/{id}/data", "name": "template",
             "description": "By number", "mimeType": "application/json"}]}

    @staticmethod
    def read(params, meta):
        uri = params["uri"]
        if uri in RESOURCES:
            return {"contents": [{"uri": uri, **RESOURCES[uri]}]}
        if uri.startswith("test://template/") and uri.endswith("/data"):
            number = uri.split("/")[3]
            return {"contents": [{
                "uri": uri, "mimeType": "application/json",
                "text": json.dumps({"id": number, "data": number})}]}
        raise Failed(-32602 if meta else -32002, "Resource not found",
                     {"uri": uri})

    @staticmethod
    def prompt(params, meta):
        name, args = params["name"], params.get("arguments") or {}

        def of(*contents):
            return {"messages": [{"role": "user", "content": c}
                                 for c in contents]}
        if name not in PROMPTS:
            raise Failed(-32602, "no such prompt")
        if name == "test_prompt_with_arguments":
            return of(text(f"'{args.get('arg1')}' and '{args.get('arg2')}'"))
        if name == "test_prompt_with_image":
            return of({"type": "image", "data": PNG, "mimeType": "image/png"},
                      text("An image."))
        if name == "test_prompt_with_embedded_resource":
            return of({"type": "resource", "resource": {
                "uri": args.get("resourceUri"), "mimeType": "text/plain",
                "text": "Inside."}}, text("A resource."))
        if name == "test_input_required_result_prompt" and meta:
            given = (params.get("inputResponses") or {}).get("user_context")
            if not given:
                return {"resultType": "input_required", "inputRequests": {
                    "user_context": form("Which context?", context=TEXT)}}
            return of(text("With " + str(given.get("content"))))
        return of(text("A simple prompt."))

    @staticmethod
    def complete(_params, _meta):
        return {"completion": {"values": ["paris", "park"], "total": 2,
                               "hasMore": False}}

    def call(self, params, meta):
        name = params["name"]
        if name not in TOOLS:
            raise Failed(-32602, "no such tool")
        if name.startswith("test_input_required_result_"):
            return self.round(name[27:], params, meta)
        contents = {
            "test_simple_text": [text("This is a text.")],
            "test_image_content": [{"type": "image", "data": PNG,
                                    "mimeType": "image/png"}],
            "test_audio_content": [{"type": "audio", "data": WAV,
                                    "mimeType": "audio/wav"}],
        }
        inside = {"type": "resource", "resource": {
            "uri": "test://inside", "mimeType": "text/plain",
            "text": "Inside."}}
        contents["test_embedded_resource"] = [inside]
        contents["test_multiple_content_types"] = [
            text("Several."), *contents["test_image_content"], inside]
        if name in contents:
            return {"content": contents[name]}
        if name == "test_error_handling":
            return {"content": [text("It fails on purpose.")],
                    "isError": True}
        if name == "test_missing_capability" and "sampling" not in \
                (meta or {}).get(META + "clientCapabilities", {}):
            raise Failed(-32021, "Missing client capability",
                         {"requiredCapabilities": {"sampling": {}}})
        return {"content": [text(self.act(name, params, meta))]}

    def log(self, data, meta):
        level = meta.get(META + "logLevel") if meta else self.level
        if level and LEVELS.index(level) <= LEVELS.index("info"):
            self.notify("message", level="info", data=data)

    def act(self, name, params, meta):
        args = params.get("arguments") or {}
        token = (params.get("_meta") or {}).get("progressToken")
        if name in ("test_tool_with_logging", "test_logging_tool"):
            for i in range(3):
                self.log(f"step {i}", meta)
        elif name in ("test_tool_with_progress",
                      "test_streaming_elicitation"):
            for i in (0, 50, 100):
                if token is not None:
                    self.notify("progress", progressToken=token, progress=i,
                                total=100)
        elif name == "test_trigger_tool_change":
            self.change("tools")
        elif name == "test_trigger_prompt_change":
            self.change("prompts")
        elif name == "test_sampling" and not meta:
            r = self.ask("sampling/createMessage", sample(
                args.get("prompt"))["params"])
            return "The model says " + r["content"]["text"]
        elif name.startswith("test_elicitation") and not meta:
            wants = {"test_elicitation": schema(("response",), response=TEXT),
                     "test_elicitation_sep1034_defaults": DEFAULTS,
                     "test_elicitation_sep1330_enums": ENUMS}[name]
            r = self.ask("elicitation/create", {
                "message": args.get("message", "Please look."),
                "requestedSchema": wants})
            return (f"action={r['action']}, content="
                    f"{json.dumps(r.get('content', {}), sort_keys=True)}")
        return name

    def round(self, name, params, meta):
        """A call that asks first: what it wants, and a state of it."""
        given = params.get("inputResponses") or {}
        state = params.get("requestState")
        caps = (meta or {}).get(META + "clientCapabilities", {})
        wants = {
            "elicitation": {"user_name": form("Your name?", name=TEXT)},
            "sampling": {"sample_request": sample("The capital?")},
            "list_roots": {"roots_request": {"method": "roots/list",
                                             "params": {}}},
            "request_state": {"confirm": form("Yes?", ok={
                "type": "boolean"})},
            "tampered_state": {"confirm": form("Yes?", ok={
                "type": "boolean"})},
            "multiple_inputs": {
                "user_name": form("Your name?", name=TEXT),
                "greeting": sample("A greeting"),
                "client_roots": {"method": "roots/list", "params": {}}},
            "multi_round": {"step1": form("Your name?", name=TEXT)},
            "capabilities": {
                **({"elicit_input": form("A value?", value=TEXT)}
                   if "elicitation" in caps else {}),
                **({"sample_input": sample("A sample")}
                   if "sampling" in caps else {})},
        }[name]
        bound = name in ("request_state", "multiple_inputs",
                         "tampered_state", "multi_round")
        good = bool(state) and signed(state, name)
        if state and not good and not signed(state, "second"):
            raise Failed(-32602, "requestState is not from here")
        if name == "multi_round" and state and not good and "step2" in given:
            return {"content": [text("Both rounds are done.")]}
        if name == "multi_round" and good and "step1" in given:
            return {"resultType": "input_required",
                    "requestState": sign("second"), "inputRequests": {
                        "step2": form("Your colour?", color=TEXT)}}
        if not self.fits(wants, given) or (bound and not good):
            return {"resultType": "input_required", "inputRequests": wants,
                    **({"requestState": sign(name)} if bound else {})}
        shown = {k: given[k].get("content") for k in sorted(wants)
                 if wants[k]["method"].startswith("elicit")}
        return {"content": [text(("state-ok " if bound else "") +
                                 json.dumps(shown))]}

    @staticmethod
    def fits(wants, given):
        """Returns whether all that was asked for is there, and of its type."""
        for key, w in wants.items():
            r = given.get(key)
            if not isinstance(r, dict):
                return False
            if w["method"] != "elicitation/create" or \
                    r.get("action") in ("decline", "cancel"):
                continue
            for field, s in w["params"]["requestedSchema"][
                    "properties"].items():
                kind = {"string": str, "boolean": bool}[s["type"]]
                if not isinstance((r.get("content") or {}).get(field), kind):
                    return False
        return True


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        server = Server(self.wfile)
        for line in self.rfile:
            server.take(line)
        server.end()


class Listener(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--listen", metavar="PATH")
    p.add_argument("--legacy", action="store_true",
                   help="older revisions only")
    opts = p.parse_args()
    Shared.legacy = opts.legacy
    if opts.listen:
        with Listener(opts.listen, Connection) as s:
            s.serve_forever()
    server = Server(sys.stdout.buffer)
    for line in sys.stdin.buffer:
        server.take(line)


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
