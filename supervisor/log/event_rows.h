/* SPDX-License-Identifier: ISC */
/*
 * The events of ironcurtain-audit(5), and their names in each format that they
 * can be exported to. A test compares these rows with the manual page.
 *
 * AUDIT_EVENT(name, csv, ocsf, otlp, report)
 *
 * csv     the columns that the event fills, as "COLUMN=MEMBER"; a MEMBER may be
 *         in another one ("policyDecision.rule"), or in `detail`, and after |
 *         follows another one for records without the first
 * ocsf    class and activity of OCSF 1.3: CLASS.ACTIVITY
 * otlp    the span of OpenTelemetry's conventions for generative models, or an
 *         event of one
 * report  the part of `icctl report` that shows it
 *
 * A text that begins with "- " says why the format leaves the event out. A
 * record in JSON is exported whole, whatever its event is.
 */
/* clang-format off */
#ifndef AUDIT_EVENT
#define AUDIT_EVENT(name, csv, ocsf, otlp, report)
#endif
AUDIT_EVENT(start,
    "what=agent text=workspace status=version",
    "1007.1", "invoke_agent", "head")
AUDIT_EVENT(state,
    "- it repeats totals; icctl usage has them",
    "- totals", "- totals", "- totals, which the costs have")
AUDIT_EVENT(expired,
    "text=calls",
    "6003.99", "event:expired", "answers")
AUDIT_EVENT(call,
    "id=id server=serverName tool=toolName decision=policyDecision.status "
    "rule=policyDecision.rule reason=policyDecision.reason "
    "answer=escalationResult digest=digest arguments=arguments",
    "6003.99", "execute_tool", "calls")
AUDIT_EVENT(refusedCalls,
    "server=serverName tool=toolName decision=policyDecision.status "
    "rule=policyDecision.rule reason=policyDecision.reason count=count",
    "6003.99", "event:refused", "calls")
AUDIT_EVENT(result,
    "id=id server=serverName status=status bytes=bytes reason=error",
    "6003.99", "execute_tool", "results")
AUDIT_EVENT(round,
    "id=id server=serverName status=how count=number",
    "6003.99", "event:round", "results")
AUDIT_EVENT(hold,
    "id=id server=serverName tool=toolName rule=rule reason=reason "
    "digest=digest",
    "6003.99", "event:hold", "answers")
AUDIT_EVENT(verdict,
    "id=id answer=verdict reason=because digest=digest count=times",
    "6003.99", "event:verdict", "answers")
AUDIT_EVENT(signedAnswer,
    "id=call digest=digest text=signers",
    "6003.99", "event:signed", "answers")
AUDIT_EVENT(elicitation,
    "id=id server=serverName text=asked answer=action digest=digest "
    "arguments=answer",
    "6003.99", "event:elicitation", "answers")
AUDIT_EVENT(opinion,
    "id=id answer=decision reason=reasoning digest=digest",
    "6003.99", "event:opinion", "answers")
AUDIT_EVENT(grant,
    "id=id what=state reason=reason count=remaining",
    "6003.99", "event:grant", "answers")
AUDIT_EVENT(grantDropped,
    "id=id reason=reason",
    "6003.99", "event:grant", "answers")
AUDIT_EVENT(revoke,
    "id=id",
    "6003.99", "event:revoke", "answers")
AUDIT_EVENT(tooLate,
    "id=id",
    "6003.99", "event:tooLate", "answers")
AUDIT_EVENT(session,
    "server=serverName text=message.method|message",
    "6003.99", "- the protocol's own messages",
    "- the protocol's own messages")
AUDIT_EVENT(serverState,
    "server=serverName what=state text=text count=tools",
    "6002.99", "- no work of the model", "- programs of the session")
AUDIT_EVENT(instance,
    "id=id server=serverName what=state text=text count=instance",
    "1007.1", "- no work of the model", "- programs of the session")
AUDIT_EVENT(tool,
    "server=serverName tool=toolName what=state digest=digest text=looksLike",
    "2004.1", "- no work of the model", "tools")
AUDIT_EVENT(definitions,
    "server=serverName count=more text=tools",
    "2004.1", "- no work of the model", "- names of tools only")
AUDIT_EVENT(trust,
    "server=serverName tool=toolName digest=digest",
    "2004.2", "- no work of the model", "tools")
AUDIT_EVENT(policy,
    "digest=policy count=rules",
    "5019.1", "- no work of the model", "rules")
AUDIT_EVENT(reload,
    "digest=policy",
    "5019.1", "- no work of the model", "rules")
AUDIT_EVENT(reloadRefused,
    "reason=reason",
    "5019.1", "- no work of the model", "rules")
AUDIT_EVENT(modelRequest,
    "provider=provider host=host text=path bytes=length digest=digest "
    "id=approved",
    "4002.6", "chat", "requests")
AUDIT_EVENT(askRefused,
    "id=id server=serverName tool=toolName answer=escalationResult "
    "digest=digest provider=provider",
    "4002.6", "event:refused", "requests")
AUDIT_EVENT(refusedRequests,
    "server=serverName tool=toolName decision=policyDecision.status "
    "rule=policyDecision.rule reason=policyDecision.reason count=count",
    "4002.6", "event:refused", "requests")
AUDIT_EVENT(modelResponse,
    "provider=provider status=status bytes=received reason=error",
    "4002.6", "chat", "requests")
AUDIT_EVENT(usage,
    "provider=provider model=model input=in output=out cacheRead=cacheRead "
    "cacheWrite=cacheWrite",
    "6003.99", "chat", "costs")
AUDIT_EVENT(package,
    "provider=provider what=source tool=name text=version decision=allowed "
    "reason=reason",
    "6003.99", "event:package", "packages")
AUDIT_EVENT(budget,
    "what=what tool=key text=text",
    "2004.1", "event:budget", "limits")
AUDIT_EVENT(refused,
    "host=host what=code text=target status=status count=count",
    "4002.6", "event:refused", "refused")
AUDIT_EVENT(alarm,
    "server=who what=kind text=text",
    "2004.1", "event:alarm", "alarms")
AUDIT_EVENT(connect,
    "server=serverName|service host=host status=port id=connection",
    "4001.1", "- no work of the model", "hosts")
AUDIT_EVENT(connectEnd,
    "server=serverName|service bytes=received reason=error id=connection",
    "4001.2", "- no work of the model", "- the connections have it")
AUDIT_EVENT(portUse,
    "what=port count=connections bytes=received",
    "4001.6", "- no work of the model", "- the person's own browser")
AUDIT_EVENT(connectDenied,
    "server=serverName host=target what=code count=count",
    "4001.5", "- no work of the model", "refused")
AUDIT_EVENT(turn,
    "id=turn bytes=bytes digest=sha256",
    "6003.99", "invoke_agent", "turns")
AUDIT_EVENT(paste,
    "id=name bytes=bytes digest=sha256",
    "6003.99", "event:paste", "turns")
AUDIT_EVENT(checkpoint,
    "id=checkpoint what=of count=files bytes=bytes digest=manifest reason=why",
    "1001.3", "event:checkpoint", "changes")
AUDIT_EVENT(undo,
    "id=from text=to digest=plan",
    "1001.3", "event:undo", "changes")
AUDIT_EVENT(undoEnd,
    "id=from text=to count=files status=failed reason=why",
    "1001.3", "event:undo", "changes")
AUDIT_EVENT(breakoutTest,
    "count=attempts bytes=outside digest=table",
    "2003.1", "- no work of the model", "head")
AUDIT_EVENT(credential,
    "what=what server=provider tool=kind reason=reason",
    "3002.99", "- no work of the model", "credentials")
AUDIT_EVENT(destinationAdded,
    "host=host what=kind provider=provider",
    "4001.99", "- no work of the model", "hosts")
AUDIT_EVENT(destinationRemoved,
    "host=host what=kind provider=provider",
    "4001.99", "- no work of the model", "hosts")
AUDIT_EVENT(forgeFound,
    "provider=provider reason=reason",
    "6003.99", "- no work of the model", "- the request that it is for")
AUDIT_EVENT(forgeLookup,
    "provider=provider what=ref",
    "6003.99", "- no work of the model", "- the request that it is for")
AUDIT_EVENT(redirect,
    "provider=provider host=host digest=pathSha256",
    "6003.99", "- the request that it is for", "hosts")
AUDIT_EVENT(redirectEnd,
    "reason=error",
    "6003.99", "- the request that it is for", "- the redirect")
AUDIT_EVENT(hostOpen,
    "id=id host=host what=kind",
    "4001.99", "event:hostOpen", "hosts")
AUDIT_EVENT(hostShut,
    "id=id host=host answer=escalationResult",
    "4001.99", "event:refused", "refused")
AUDIT_EVENT(workerEnd,
    "server=worker what=how id=pid",
    "1007.2", "- no work of the model", "- programs of the session")
AUDIT_EVENT(workerStopped,
    "server=worker id=pid",
    "1007.99", "- no work of the model", "- programs of the session")
AUDIT_EVENT(logBroken,
    "reason=why",
    "2004.1", "event:alarm", "alarms")
AUDIT_EVENT(stop,
    "reason=reason status=status what=evidence",
    "1007.2", "invoke_agent", "head")
/* clang-format on */

#undef AUDIT_EVENT
