# SPDX-License-Identifier: ISC
"""The expected result of a request to a provider: refused by mitmd with
exactly one status, code and text, or received by the provider with exactly one
head and body. The rows of the rule book are numbered; nothing is taken from
the product's code.

In bytes that an agent sends, KEY is replaced by the session's placeholder key
for the host. In what the provider receives, REAL is the real key and HOSTPORT
the provider's address."""
import collections

FORM = ("The request is not well-formed HTTP as this proxy takes it: one Host, "
        "a plain path without escapes, one way to tell the body's length. "
        "Correct the request. Do not retry.")
SIZE = ("The headers are too large, or one of them holds bytes that may not be "
        "forwarded. Do not retry.")
# code: status, text, and whether the mistake or a list follows
CODES = {
    "malformed": (400, FORM, "why"),
    "headers": (431, SIZE, "why"),
    "json": (400, "The body must be one strict JSON object (RFC 8259, UTF-8, "
             "no member name twice), since it is checked before it is sent. "
             "Do not retry.", "why"),
    "method": (405, "This path does not take this method. Do not retry.",
               "allowed"),
    "endpoint": (403, "This endpoint is not on the session's list. The user "
                 "can add it to the provider's file. Do not retry.",
                 "allowed"),
    "query": (403, "A query parameter or its value is not on this endpoint's "
              "list. Leave it out, or the user can add it to the provider's "
              "file. Do not retry.", None),
    "no-key": (403, "The request carries no key. Send the key that the "
               "environment of this session names; nothing is forwarded "
               "without it. Do not retry.", None),
    "wrong-key": (403, "The key is not this session's key for this provider. "
                  "Only the key in this session's environment is accepted; "
                  "real keys have no place here. Do not retry.", None),
    "foreign-key": (403, "A header that carries credentials is not this "
                    "provider's. Leave it out. Do not retry.", None),
    "two-keys": (403, "The key was given more than once. Give it in one "
                 "header. Do not retry.", None),
    "type": (415, "This endpoint does not take this content type. Do not "
             "retry.", None),
    "encoding": (415, "Of encoded bodies only gzip and zstd are taken. Send "
                 "the body as it is, without Content-Encoding. Do not retry.",
                 None),
    "coded-body": (400, "The body is not one whole text of the coding that "
                   "Content-Encoding names. Do not retry.", None),
    "no-body": (400, "This endpoint takes no body. Do not retry.", None),
    "too-large": (413, "The body is larger than this endpoint takes. Do not "
                  "retry.", None),
    "expect": (417, "Only Expect: 100-continue is understood, with a body. "
               "Leave the header out. Do not retry.", None),
    "upgrade": (426, "WebSocket and other upgrades are not offered here. Use "
                "plain requests; server-sent events are streamed. Do not "
                "retry.", None),
    "provider": (502, "The provider could not be reached or did not answer "
                 "properly.", "detail"),
}
PHRASES = {400: "Bad Request", 403: "Forbidden", 405: "Method Not Allowed",
           413: "Content Too Large", 415: "Unsupported Media Type",
           417: "Expectation Failed", 426: "Upgrade Required",
           431: "Request Header Fields Too Large", 502: "Bad Gateway"}
# Refused before the end of the request is known.
ENDS = {"malformed", "headers", "expect", "upgrade"}

# `row` of the rule book; `host` of the provider; `data` to send, or (data, N):
# the first N bytes in a separate TLS record, 0: each byte in one; `want`:
# Refused or Sent, or a list of them, one for each request.
Case = collections.namedtuple("Case", "row name host data want")
Refused = collections.namedtuple("Refused", "code why")
Sent = collections.namedtuple("Sent", "head body")

A, O = "api.anthropic.com", "api.openai.com"
HOST = {A: b"Host: api.anthropic.com\r\n", O: b"Host: api.openai.com\r\n"}
KEY = {A: b"x-api-key: KEY\r\n", O: b"Authorization: Bearer KEY\r\n"}
JSON = b"Content-Type: application/json\r\n"
HELLO = b"GET /api/hello HTTP/1.1\r\n"
MESSAGES = b"POST /v1/messages HTTP/1.1\r\n"
RESPONSES = b"POST /v1/responses HTTP/1.1\r\n"
MODELS = b"GET /v1/models HTTP/1.1\r\n"
TURN = (b'{"model":"m","max_tokens":5,"messages":'
        b'[{"role":"user","content":"hi"}]}')
INPUT = b'{"model":"m","store":false,"input":"hi"}'
GETS = {A: HELLO, O: MODELS}
POSTS = {A: (MESSAGES, TURN), O: (RESPONSES, INPUT)}
CRED = {A: b"x-api-key: REAL\r\n", O: b"authorization: Bearer REAL\r\n"}


# Length of a placeholder key: the provider's prefix and 32 letters.
SIZES = {A: len("sk-ant-api03-ironcurtain-") + 32,
         O: len("sk-ironcurtain-") + 32}


def size(body, host):
    """The length with placeholder keys in place of each KEY."""
    return len(body) + body.count(b"KEY") * (SIZES[host] - 3)


def no(code, why=None):
    return Refused(code, why)


def sent(line, host=A, headers=(), body=b"", cred=None):
    """The head that keyd must write; headers: (name, value) in order."""
    head = line.rstrip(b"\r\n") + b"\r\nhost: HOSTPORT\r\n" + (
        cred or CRED[host]) + b"accept-encoding: identity\r\n"
    if body or line.startswith(b"POST"):
        head += b"content-length: %d\r\n" % size(body, host)
    for name, value in headers:
        head += name + b": " + value + b"\r\n"
    return Sent(head + b"\r\n", body)


def get(extra=b"", host=A, line=None, key=None):
    """A valid GET with more header lines."""
    return (line or GETS[host]) + HOST[host] + (
        KEY[host] if key is None else key) + extra + b"\r\n"


def post(extra=b"", host=A, line=None, body=None, key=None, kind=JSON):
    """A valid POST with more header lines before its length."""
    default, text = POSTS[host]
    body = text if body is None else body
    return (line or default) + HOST[host] + (
        KEY[host] if key is None else key) + kind + extra + \
        b"Content-Length: %d\r\n\r\n" % size(body, host) + body


def got(extra=(), host=A, line=None):
    """The provider's view of get()."""
    return sent(line or GETS[host], host, extra)


def posted(extra=(), host=A, line=None, body=None):
    """The provider's view of post()."""
    default, text = POSTS[host]
    return sent(line or default, host,
                [(b"content-type", b"application/json"), *extra],
                text if body is None else body)


def headers_of(lines):
    """[(name, value)] of header lines, in lower case, as passed on."""
    return [(n.lower(), v.strip(b" \t")) for n, _, v in (
        line.partition(b":") for line in lines.split(b"\r\n") if line)]
