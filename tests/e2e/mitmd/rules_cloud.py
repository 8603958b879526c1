# SPDX-License-Identifier: ISC
"""Rows 8, 10, 11, 16, 17 for Bedrock and Vertex, whose paths have their own
alphabets, and of which Bedrock's requests are signed. KEY is the session's
placeholder key, SIGN a signature with it. Each row: (row, provider, method,
target, headers, want), where want is a code of rules.CODES with the additional
text, or None if the request passes unchanged."""
from cloud_helper import ARN, MODEL, PROJECT, REGION, VPATH

BEDROCK_PATH = (
    "the path holds a dot or empty segment, characters other than letters, "
    "digits and -._:, or an escape that is not %3A, or %2F in an ARN of this "
    "region")
VERTEX_PATH = ("the path holds an escape, a dot or empty segment, or "
               "characters other than letters, digits and -._:@")
B, V = "bedrock", "vertex"
BEARER = [("Authorization", "Bearer KEY")]
ACCOUNT = f"arn:aws:bedrock:{REGION}:123456789012:"
CLAUDE = f"{VPATH}/anthropic/models/claude-sonnet-4-5"
SCOPE = f"20261122/{REGION}/bedrock/aws4_request"
REST = "SignedHeaders=host, Signature=" + "0" * 64


def model(segment, action="invoke"):
    return f"/model/{segment}/{action}"


def paths():
    good = [(B, model(s)) for s in (
        MODEL, MODEL.replace(":", "%3A"), "anthropic.claude-opus-5-5",
        "eu.anthropic.claude-x-v1:0", "amazon.nova-pro-v1:0", ARN,
        ARN.replace(":", "%3A"), ACCOUNT + "inference-profile%2F" + MODEL,
        ACCOUNT + "provisioned-model%2Fabc123",
        f"arn:aws:bedrock:{REGION}::foundation-model%2Fanthropic.claude-x",
        "arn:aws-us-gov" + ACCOUNT[7:] + "imported-model%2Fx1",
        ACCOUNT + "custom-model-deployment%2Fx-1")]
    good += [(B, model(MODEL, a)) for a in (
        "converse", "converse-stream", "invoke-with-response-stream",
        "count-tokens")]
    good += [(V, CLAUDE + tail) for tail in (
        ":rawPredict", "@20250929:rawPredict", "@default:streamRawPredict",
        "-v2@20250929:streamRawPredict", ":streamRawPredict?beta=true")]
    good += [(V, f"{VPATH}/google/models/{m}") for m in (
        "gemini-2.5-pro:generateContent", "gemini-x@001:generateContent",
        "gemini-2.5-pro:streamGenerateContent?alt=sse")]
    bad = [(B, model(s)) for s in (
        "a%3a0", "a%2f0", "a%253A0", "a%", "a%3", "a%3A%", "a%00b", "a%20b",
        "%61bc", "a%5Cb", "a%25", "a@b", "a+b", "a;b", "a,b", "a!b", "a~b",
        "a%2Fb", "..%2F..%2Fx", "%2F", "%2E%2E", "..", ".", "a%2F%2Fb",
        ACCOUNT + "inference-profile%2F..", ACCOUNT + "inference-profile%2F.",
        ACCOUNT + "inference-profile%2F", ACCOUNT + "%2Fabc",
        ACCOUNT + "inference-profile%2Fa%2Fb", ACCOUNT + "prompt%2Fabc",
        ACCOUNT + "agent%2Fabc", ACCOUNT + "guardrail%2Fabc",
        ACCOUNT.replace(REGION, "us-east-1") + "inference-profile%2Fa",
        ACCOUNT.replace(REGION, "") + "inference-profile%2Fa",
        ACCOUNT.replace("bedrock", "s3") + "inference-profile%2Fa",
        ACCOUNT.replace("aws", "evil") + "inference-profile%2Fa",
        ACCOUNT.replace("012:", "01:") + "inference-profile%2Fa",
        ACCOUNT.replace("012:", "01x:") + "inference-profile%2Fa",
        ACCOUNT.replace("arn:", "xarn:") + "inference-profile%2Fa",
        ACCOUNT + "inference-profile%2Fa%20b")]
    bad += [(B, t) for t in ("//model/a/invoke", "/model//invoke",
                             "/model/a/invoke/", "/model/../model/a/invoke",
                             "/model/a/%2E/invoke", "/./model/a/invoke")]
    bad += [(V, CLAUDE + tail) for tail in (
        "@1@2:rawPredict", "%402025:rawPredict", "@:rawPredict"[:1] +
        "/x:rawPredict", "%3ArawPredict", "@20250929%3ArawPredict",
        "@a b:rawPredict".replace(" ", "%20"), "@a/../b:rawPredict",
        "//b:rawPredict", "@a+b:rawPredict", "@a;b:rawPredict")]
    rows = [(10, p, "POST", t, BEARER, None) for p, t in good]
    return rows + [(10, p, "POST", t, BEARER, (
        "malformed", BEDROCK_PATH if p == B else VERTEX_PATH))
        for p, t in bad]


def endpoints():
    rows = [(8, B, "POST", t, BEARER, ("endpoint", None)) for t in (
        model(MODEL, "invoke-with-bidirectional-stream"),
        model(MODEL, "async-invoke"), "/async-invoke", "/model/invoke",
        "/guardrail/x/version/1/apply", "/retrieveAndGenerate",
        "/agents/a/agentAliases/b/sessions/c/text", "/flows/a/aliases/b",
        "/inference-profiles", "/foundation-models", "/prompts",
        "/model-customization-jobs", "/knowledgebases/a/retrieve",
        "/Model/a/invoke", "/model/a/Invoke", "/model/a/b/invoke")]
    rows += [(8, V, "POST", t, BEARER, ("endpoint", None)) for t in (
        CLAUDE.replace(PROJECT, "other-project") + ":rawPredict",
        CLAUDE.replace("us-east5", "us-east1") + ":rawPredict",
        CLAUDE.replace("/v1/", "/v2/") + ":rawPredict",
        CLAUDE.replace("anthropic", "meta") + ":rawPredict",
        CLAUDE + ":predict", CLAUDE + ":serverStreamingPredict", CLAUDE,
        CLAUDE.replace("/models/", "/endpoints/") + ":rawPredict",
        f"/v1/projects/{PROJECT}/locations/us-east5/batchPredictionJobs",
        f"/v1/projects/{PROJECT}/locations/us-east5/cachedContents",
        f"/v1/projects/{PROJECT}/locations/us-east5/ragCorpora",
        f"{VPATH}/google/models/gemini-x:predictLongRunning",
        f"{VPATH}/google/models/gemini-x:embedContent")]
    rows += [(5, p, m, t, BEARER, ("method", None)) for p, m, t in (
        (B, "GET", model(MODEL)), (B, "PUT", model(MODEL)),
        (B, "DELETE", model(MODEL)), (V, "GET", CLAUDE + ":rawPredict"),
        (V, "PATCH", CLAUDE + "@1:rawPredict"), (V, "PUT", CLAUDE +
                                                 ":streamRawPredict"),
        (B, "PATCH", model(MODEL, "converse")), (B, "PUT", model(ARN)),
        (B, "GET", model(ARN, "converse-stream")), (V, "DELETE", CLAUDE +
                                                    ":rawPredict"))]
    rows += [(11, B, "POST", model(MODEL) + q, BEARER, ("query", None))
             for q in ("?beta=true", "?X-Amz-Signature=00",
                       "?X-Amz-Credential=a", "?x=y", "?beta=false")]
    rows += [(11, V, "POST", CLAUDE + ":rawPredict" + q, BEARER,
              ("query", None)) for q in (
                  "?access_token=a", "?key=b", "?alt=sse", "?uploadType=x",
                  "?oauth_token=c")]
    return rows


def keys():
    target = model(MODEL)
    signed = [("KEY", SCOPE, None), ("AKIAOTHER0123456789", SCOPE, 1),
              ("KEYx", SCOPE, 1), ("", SCOPE, 1),
              ("KEY", SCOPE.replace(REGION, "us-east-1"), 1),
              ("KEY", SCOPE.replace("bedrock", "s3"), 1),
              ("KEY", SCOPE.replace("aws4", "aws5"), 1),
              ("KEY", SCOPE[1:], 1), ("KEY", SCOPE + "/x", 1),
              ("KEY/x", SCOPE, 1)]
    rows = [(16, B, "POST", target, [(
        "Authorization", f"AWS4-HMAC-SHA256 Credential={k}/{s}, {REST}")],
        ("wrong-key", None) if bad else None) for k, s, bad in signed]
    rows += [(16, B, "POST", target, [("Authorization", v)],
              ("wrong-key", None)) for v in (
                  "KEY", "Basic KEY", "Bearer  KEY", "bearer KEY",
                  "AWS4-HMAC-SHA256 KEY", f"AWS4-HMAC-SHA256 {REST}",
                  f"AWS4-ECDSA-P256-SHA256 Credential=KEY/{SCOPE}, {REST}",
                  f"AWS4-HMAC-SHA256 {REST}, Credential=KEY/{SCOPE}",
                  f"AWS4-HMAC-SHA256  Credential=KEY/{SCOPE}, {REST}",
                  "Bearer sk-ant-api03-x")]
    rows += [(16, B, "POST", target, [], ("no-key", None)),
             (16, V, "POST", CLAUDE + ":rawPredict", [], ("no-key", None)),
             (17, B, "POST", target, BEARER * 2, ("two-keys", None))]
    rows += [(17, B, "POST", target, BEARER + [(n, "x")],
              ("foreign-key", None)) for n in (
                  "X-Amz-Security-Token", "x-api-key", "X-Goog-Api-Key",
                  "Proxy-Authorization", "X_Amz_Security_Token")]
    rows += [(17, V, "POST", CLAUDE + ":rawPredict", BEARER + [(n, "x")],
              ("foreign-key", None)) for n in (
                  "x-goog-api-key", "x-api-key", "X-Auth-Token",
                  "X-Goog-Access-Token")]
    return rows


CASES = paths() + endpoints() + keys()
