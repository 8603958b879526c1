# SPDX-License-Identifier: ISC
"""Measures how quickly one MCP server answers while another, the agent or
icctl floods the session: percentiles of tools/call, one at a time, compared
with those of a quiet session measured just before."""
import json

AIM = 2.0       # limit of the 99th percentile, as a multiple of the quiet one
SECONDS = 3


def rows(work, provider):
    import floods
    import harness as h

    def figures(m):
        found = floods.latencies(m, SECONDS)
        return [floods.percentile(found, p) * 1e6 for p in (50, 99)]

    with h.Session(work, floods.servers(work), floods.RULES, floods.TOOLS,
                   provider=provider) as s:
        m = s.client()
        for kind in floods.KINDS:
            quiet = figures(m)
            flood = floods.Flood(s, m, kind, SECONDS + 0.5)
            beside = figures(m)
            flood.end()
            yield kind, quiet, beside
        m.close()


def report(work, as_json):
    import harness as h
    provider = h.Provider(work)
    try:
        found = list(rows(work, provider))
    finally:
        provider.end()
    if as_json:
        print(json.dumps([
            {"flood": k, "quietP50us": q[0], "quietP99us": q[1],
             "p50us": b[0], "p99us": b[1], "ratio": b[1] / q[1],
             "aim": AIM} for k, q, b in found]))
        return
    print(f"{'flood':<10}{'quiet p50':>11}{'p99 us':>9}{'beside p50':>12}"
          f"{'p99 us':>9}{'ratio':>7}  aim {AIM}")
    for kind, quiet, beside in found:
        ratio = beside[1] / quiet[1]
        print(f"{kind:<10}{quiet[0]:>11.0f}{quiet[1]:>9.0f}"
              f"{beside[0]:>12.0f}{beside[1]:>9.0f}{ratio:>7.1f}"
              f"  {'met' if ratio <= AIM else 'missed'}")
