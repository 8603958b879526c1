# SPDX-License-Identifier: ISC
"""The answers of Amazon Bedrock and Google Vertex: Anthropic's Messages in
their wrappings, Converse, Gemini.  Keeps no state."""
import base64
import json
import re
import struct
import urllib.parse
import zlib

from provider_apis import anthropic, decide, event_bytes, flat, gemini

EVENTS = "application/vnd.amazon.eventstream"


def frame(event, payload, kind="event"):
    """Returns one frame of an event stream."""
    head = b"".join(
        bytes([len(n)]) + n + b"\x07" + struct.pack(">H", len(v)) + v
        for n, v in ((b":event-type", event.encode()),
                     (b":content-type", b"application/json"),
                     (b":message-type", kind.encode())))
    text = json.dumps(payload).encode()
    data = struct.pack(">II", 16 + len(head) + len(text), len(head))
    data += struct.pack(">I", zlib.crc32(data)) + head + text
    return data + struct.pack(">I", zlib.crc32(data))


def frames(data):
    """Returns (headers, payload) of each frame, and the bytes left. For
    clients in tests."""
    found = []
    while len(data) >= 16:
        total, length, crc = struct.unpack(">III", data[:12])
        if len(data) < total:
            break
        if zlib.crc32(data[:8]) != crc or zlib.crc32(
                data[:total - 4]) != struct.unpack(
                    ">I", data[total - 4:total])[0]:
            raise ValueError("a CRC is wrong")
        head, at = {}, 12
        while at < 12 + length:
            n = data[at]
            name = data[at + 1:at + 1 + n].decode()
            at += 2 + n
            size = struct.unpack(">H", data[at:at + 2])[0]
            head[name] = data[at + 2:at + 2 + size].decode()
            at += 2 + size
        found.append((head, data[12 + length:total - 4]))
        data = data[total:]
    return found, data


def chunk(event):
    return frame("chunk", {"bytes": base64.b64encode(
        json.dumps(event).encode()).decode(), "p": "abcdefghij"})


def converse(script, body):
    messages = body.get("messages", [])
    results = [flat([p for c in part["toolResult"].get("content", [])
                     for p in [c.get("text") or json.dumps(c.get("json"))]])
               for m in messages for part in m.get("content", [])
               if "toolResult" in part]
    names = [t["toolSpec"]["name"] for t in
             body.get("toolConfig", {}).get("tools", []) if "toolSpec" in t]
    tool, value, call = decide(script, names, results)
    usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
    part = {"toolUse": {"toolUseId": call, "name": tool, "input": value}} \
        if tool else {"text": value}
    stop = "tool_use" if tool else "end_turn"
    reply = {"output": {"message": {"role": "assistant", "content": [part]}},
             "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}
    events = [frame("messageStart", {"role": "assistant"}),
              frame("contentBlockDelta", {
                  "contentBlockIndex": 0, "delta": {
                      "toolUse": {"input": json.dumps(value)}} if tool else
                  {"text": value}}),
              frame("contentBlockStop", {"contentBlockIndex": 0}),
              frame("messageStop", {"stopReason": stop}),
              frame("metadata", {"usage": usage,
                                 "metrics": {"latencyMs": 1}})]
    return events, reply


def bedrock(script, model, action, body):
    if action.startswith("converse"):
        events, reply = converse(script, body)
        return ("aws", events) if action.endswith("stream") else \
            ("json", 200, reply)
    if action == "count-tokens":
        return ("json", 200, {"inputTokens": 100})
    if "anthropic" not in model and not model.startswith("arn:"):
        return ("json", 400, {"message": "no such model"})
    if body.get("anthropic_version") != "bedrock-2023-05-31" or \
            "model" in body or "stream" in body:
        return ("json", 400, {"message": "not a body for Bedrock"})
    name = "claude-opus-5-5" if model.startswith("arn:") else \
        re.sub(r"^.*anthropic\.|-v\d+:\d+$", "", model)
    events, reply = anthropic(script, dict(body, model=name))
    if action == "invoke":
        return ("json", 200, reply)
    events[-1]["amazon-bedrock-invocationMetrics"] = {
        "inputTokenCount": 100, "outputTokenCount": 20,
        "invocationLatency": 1, "firstByteLatency": 1}
    return ("aws", [chunk(e) for e in events])


def cloud(script, method, path, body):
    """Like provider_apis.answer(); returns None for other requests."""
    m = re.fullmatch(r"/model/([^/]+)/(invoke|invoke-with-response-stream|"
                     r"converse|converse-stream|count-tokens)", path)
    if m and method == "POST":
        return bedrock(script, urllib.parse.unquote(m[1]), m[2], body or {})
    if method == "GET" and path == "/inference-profiles":
        return ("json", 200, {"inferenceProfileSummaries": [{
            "inferenceProfileId": i, "inferenceProfileName": i,
            "status": "ACTIVE", "type": "SYSTEM_DEFINED", "models": [],
            "inferenceProfileArn": "arn:aws:bedrock:us-west-2:123456789012:"
            f"inference-profile/{i}"} for i in (
                "us.anthropic.claude-opus-5-5",
                "us.anthropic.claude-haiku-4-5-20251001-v1:0")]})
    m = re.fullmatch(r"/v1(?:beta1)?/projects/([^/]+)/locations/([^/]+)/"
                     r"publishers/([^/]+)/models/([^/]+):(\w+)", path)
    if not m or method != "POST" or not isinstance(body, dict):
        return None
    if m[3] == "google":
        events, reply = gemini(script, body)
        if m[5] == "streamGenerateContent":
            return ("sse", [event_bytes(e) for e in events])
        return ("json", 200, reply)
    if body.get("anthropic_version") != "vertex-2023-10-16" or \
            "model" in body:
        return ("json", 400, {"error": {"message": "not a body for Vertex"}})
    events, reply = anthropic(script, dict(body, model=m[4].split("@")[0]))
    if m[5] == "streamRawPredict" and body.get("stream"):
        return ("sse", [event_bytes(e) for e in events])
    return ("json", 200, reply)
