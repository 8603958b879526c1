// SPDX-License-Identifier: ISC
// The page of `icctl web`. It shows texts of agents, which are set as text and
// never as markup. An answer carries the digest of what is on the page.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const LOOK_MS = 1200;       // a little longer than the server wants
  let token = sessionStorage.getItem("token") || "";
  const page = Number(sessionStorage.getItem("page")) ||
    Math.floor(Math.random() * 2 ** 52) + 1;
  sessionStorage.setItem("page", String(page));
  let state = { rev: 0, sessions: [] };
  let chosen = { session: "", call: "" };
  let linked = "";            // a link to a call, until a tab shows it
  const tabs = new BroadcastChannel("tabs");
  let shown = null;           // the call that is on the page
  let shownAt = 0;
  let tab = "talk";
  let stateAt = 0;
  let round = 0;              // the loop of requests that goes on
  let wake = null;            // ends its wait
  let answering = false;
  let rule = null;            // the rule for it that is on the page
  let ruleAt = 0;
  let wanted = "";            // the button that gets the focus once it is ready

  async function ask(path, body, signal) {
    const r = await fetch(path, {
      method: "POST", signal, cache: "no-store", credentials: "omit",
      redirect: "error", referrerPolicy: "no-referrer",
      headers: { "Content-Type": "application/json", ...(token && { "X-IronCurtain": token }) },
      body: JSON.stringify(body),
    });
    const o = await r.json();
    if (r.status === 401) logged_out(o.error);
    if (!r.ok) throw Object.assign(new Error(o.error), { status: r.status });
    return o;
  }

  // ---- small parts
  function el(name, props, ...kids) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(props || {})) {
      if (k in e) e[k] = v; else e.setAttribute(k, v);
    }
    e.append(...kids);
    return e;
  }
  const bdi = (text) => el("bdi", { textContent: text });
  function say(text) { $("said").textContent = text; }
  function line(text) { $("line").textContent = text; }
  function left(ms) {
    if (ms === undefined) return "no time limit";
    const s = Math.max(0, Math.round((ms - (Date.now() - stateAt)) / 1000));
    return s < 120 ? s + " s left" : Math.round(s / 60) + " min left";
  }
  function clock(ms) { return new Date(ms).toLocaleTimeString(); }
  // Replace the children only where they differ, so that nothing loses focus.
  function keep(box, keys, make) {
    const old = new Map([...box.children].map((c) => [c.dataset.key, c]));
    const kids = keys.map(([key, item]) => {
      const e = make(item, old.get(key));
      e.dataset.key = key;
      return e;
    });
    for (const c of [...box.children]) if (!kids.includes(c)) c.remove();
    kids.forEach((e, i) => { if (box.children[i] !== e) box.insertBefore(e, box.children[i] || null); });
  }

  // ---- logging in and out
  function logged_out(why) {
    token = "";
    sessionStorage.removeItem("token");
    $("page").hidden = true;
    $("logout").hidden = true;
    $("login").hidden = false;
    $("login-why").textContent = why || "";
    $("waiting").textContent = "";
    document.title = "IronCurtain";
    line("");
  }
  async function log_in() {
    const m = /^#login=([0-9a-f]{64})$/.exec(location.hash);
    if (/^#call=/.test(location.hash)) linked = location.hash;
    if (m || linked) history.replaceState(null, "", "/");
    if (m) {
      try {
        token = (await ask("/api/login", { secret: m[1] })).token;
        sessionStorage.setItem("token", token);
        tabs.postMessage({ logged_in: true });
      } catch (e) { logged_out(e.message); return; }
    }
    if (!token) {
      logged_out(linked && "Your link leads to a call, and logs nobody in.");
      if (linked) tabs.postMessage({ open: linked });
      return;
    }
    $("login").hidden = true;
    $("page").hidden = false;
    $("logout").hidden = false;
    take_link(linked);
    linked = "";
    again();
  }
  // A link to exactly one call. A login stays in its tab: the link is handed
  // to a tab that has one.
  function take_link(link) {
    const m = /^#call=([A-Za-z0-9._-]{1,64})\/([a-z0-9]{1,15})$/.exec(link);
    if (!m) return false;
    chosen = { session: m[1], call: m[2] };
    if (!shown || shown.session !== m[1] || shown.call !== m[2]) {
      shown = null;
      $("call-text").replaceChildren();
    }
    if (state.rev) draw();
    return true;
  }
  tabs.onmessage = (e) => {
    const m = e.data || {};
    if (token && take_link(m.open)) {
      tabs.postMessage({ opened: m.open });
      again();
    } else if (linked && !token && m.logged_in) {
      tabs.postMessage({ open: linked });
    } else if (linked && !token && m.opened === linked) {
      $("login-why").textContent = "The call is on the page in the tab where you are logged in.";
    }
  };

  // ---- the state, again and again
  async function follow() {
    const mine = ++round;
    let wait = 500;
    while (mine === round && token) {
      const stop = new AbortController();
      wake = () => stop.abort();
      const late = setTimeout(wake, 60000);
      try {
        const s = await ask("/api/state", { page, since: state.rev, session: chosen.session }, stop.signal);
        if (mine !== round) return;
        take(s);
        line("");
        wait = 500;
      } catch (e) {
        if (mine !== round || !token) return;
        if (!stop.signal.aborted) {
          line("The page cannot reach icctl web; it tries again.");
          await new Promise((r) => { setTimeout(r, wait); wake = r; });
          wait = Math.min(2 * wait, 8000);
          state.rev = 0;
        }
      }
      clearTimeout(late);
    }
  }
  function again() { state.rev = 0; follow(); }
  function take(s) {
    state = s;
    stateAt = Date.now();
    draw();
  }

  // ---- the list
  function waiting() { return state.sessions.reduce((n, s) => n + s.calls.length, 0); }
  function matches(s) {
    const f = $("filter").value.toLowerCase();
    return !f || [s.id, s.agent, s.workspace, s.state, ...s.calls.map((c) => c.line + c.id)]
      .some((t) => t.toLowerCase().includes(f));
  }
  function row(kind, current, over, first, second, go, old) {
    const e = old || el("li", null, el("button", { type: "button" }, el("bdi"), el("small", null, el("bdi"))));
    const b = e.firstChild;
    b.className = "row " + kind + (over ? " over" : "");
    b.setAttribute("aria-current", String(current));
    if (b.firstChild.textContent !== first) b.firstChild.textContent = first;
    const small = b.lastChild.firstChild;
    if (small.textContent !== second) small.textContent = second;
    b.onclick = go;
    return e;
  }
  // The project comes first: ten sessions have one agent.
  function named(s) {
    const project = s.workspace.replace(/\/+$/, "").split("/").pop();
    return (project || s.id) + (s.agent ? " · " + s.agent : "");
  }
  function draw_jobs(jobs) {
    $("jobs").hidden = jobs.length === 0;
    keep($("jobs"), jobs.map((j) => [j.name, j]), (j, old) => {
      const e = old || document.createElement("li");
      const text = "Job " + j.name + ": " + j.state + (j.why ? ": " + j.why : "") +
        ". More: icctl job logs " + j.name;
      if (e.textContent !== text) e.textContent = text;
      return e;
    });
  }
  function draw_list() {
    const rows = [];
    for (const s of state.sessions.filter(matches)) {
      rows.push(["s " + s.id, { s }]);
      for (const c of s.calls) rows.push(["c " + s.id + " " + c.id, { s, c }]);
    }
    keep($("sessions"), rows, ({ s, c }, old) => c
      ? row("call", chosen.session === s.id && chosen.call === c.id, false, c.line, left(c.left),
        () => choose(s.id, c.id), old)
      : row("session", chosen.session === s.id && !chosen.call, s.is === "over",
        named(s), s.state + " · " + s.workspace, () => choose(s.id, ""), old));
    draw_jobs(state.jobs || []);
    $("empty").hidden = state.sessions.length !== 0;
    $("more").hidden = !state.more;
    const n = waiting();
    $("waiting").textContent = n === 0 ? "Nothing waits." : n === 1 ? "1 call waits" : n + " calls wait";
    $("waiting").classList.toggle("some", n !== 0);
    document.title = (n ? "(" + n + ") " : "") + "IronCurtain";
  }
  function choose(session, call) {
    const other = chosen.session !== session;
    chosen = { session, call };
    if (!call || !shown || shown.call !== call || shown.session !== session) shown = null;
    say("");
    wanted = "";
    $("stop-sure").hidden = true;
    draw();
    if (other) again();
    if (call) fetch_call();
    $(call ? "call-text" : "detail").focus();
    if (matchMedia("(max-width: 46rem)").matches) $("detail").scrollIntoView();
  }

  // ---- a call
  function the_call() {
    const s = state.sessions.find((x) => x.id === chosen.session);
    return s && s.calls.find((c) => c.id === chosen.call);
  }
  async function fetch_call() {
    const want = { ...chosen }, c = the_call();
    if (!c) return;
    try {
      const o = await ask("/api/call", { session: want.session, call: want.call });
      if (want.session !== chosen.session || want.call !== chosen.call) return;
      shown = o;
      shown.since = c.since;
      shownAt = Date.now();
      $("call-text").replaceChildren(...o.text.replace(/\n$/, "").split("\n")
        .map((t) => el("div", null, bdi(t))));
      draw_call();
      setTimeout(draw_call, LOOK_MS + 20);
    } catch (e) { $("call-note").textContent = e.message; }
  }
  function draw_call() {
    const c = the_call();
    if (rule && !(c && shown && rule.call === c.id && rule.digest === c.digest)) rule = null;
    $("call").hidden = !chosen.call;
    if (!chosen.call) return;
    if (!c) {
      const s = state.sessions.find((x) => x.id === chosen.session);
      $("call-name").textContent = "This call no longer waits." + (s && s.is === "over" && s.why ? " " + s.state + ": " + s.why : "");
      $("call-left").textContent = "";
      $("call-note").textContent = "";
      $("call-text").replaceChildren();
      shown = null;
    } else {
      $("call-name").textContent = c.line;
      $("call-left").textContent = left(c.left);
      if (shown && (shown.digest !== c.digest || shown.since !== c.since)) {
        shown = null;
        $("call-note").textContent = "The call has changed.";
        fetch_call();
      } else if (!shown && !$("call-text").firstChild) {
        fetch_call();
      }
    }
    const ready = Boolean(c && shown && !answering && Date.now() - shownAt >= LOOK_MS);
    const asks = Boolean(shown && shown.question);
    $("approve").textContent = !asks ? "Approve once" : shown.address ? "I have opened it" : "Answer";
    $("because").placeholder = asks && !shown.address ? "NAME=VALUE; NAME=VALUE" : "for a denial; the agent reads it";
    $("address").hidden = !(asks && shown.address);
    if (asks && shown.address) $("address").href = shown.address;
    const signs = Boolean(shown && shown.sign !== undefined);
    $("sign").hidden = !(signs && shown.sign);
    $("sign-words").textContent = signs ? shown.sign : "";
    $("approve").hidden = $("always").hidden = signs;
    $("approve").disabled = !(ready && shown.whole && !signs);
    $("approve-session").disabled = !(ready && shown.whole && shown.grant);
    $("approve-session").hidden = !(shown && shown.grant);
    $("deny").disabled = !ready;
    $("always").disabled = !(ready && shown.whole && !rule && !asks && !signs);
    $("rule").hidden = !rule;
    $("rule-yes").disabled = !(rule && ready && Date.now() - ruleAt >= LOOK_MS);
    if (wanted && !$(wanted).disabled && document.activeElement === $("call-text")) {
      $(wanted).focus();
      wanted = "";
    }
    if (c && signs && !shown.sign)
      $("call-note").textContent = "Signatures approve calls here, and this one cannot be signed: it can only be denied.";
    if (c && shown && !shown.whole)
      $("call-note").textContent = "It cannot be approved here: not everything that it touches could be shown.";
  }
  async function answer(verdict) {
    if (!shown || answering || !the_call()) return;
    const o = { session: shown.session, call: shown.call, digest: shown.digest, verdict };
    if (verdict === "session") o.grant = shown.grant;
    if (verdict === "deny" || shown.question) o.text = $("because").value;
    const asked = shown.question;
    answering = true;
    draw_call();
    try {
      await ask("/api/answer", o);
      $("because").value = "";
      next_call(o);
      say(o.call + ": " + (verdict === "deny" ? "denied" : asked ? "answered" : "approved"));
    } catch (e) { say(o.call + ": " + e.message); }
    answering = false;
    draw_call();
  }
  // Open the next call that waits; without one, stay where the answer was. A
  // person who has gone elsewhere before the answer was taken stays there.
  function next_call(was) {
    if (chosen.session !== was.session || chosen.call !== was.call) return;
    const all = state.sessions.flatMap((s) => s.calls.map((c) => [s.id, c.id]));
    const i = all.findIndex(([s, c]) => s === was.session && c === was.call);
    const rest = [...all.slice(i + 1), ...all.slice(0, Math.max(i, 0))];
    if (rest.length) choose(...rest[0]);
    else $("detail").focus();
  }

  // A rule for the call: shown first, and added on a second yes.
  async function always() {
    if (!shown || answering || !the_call()) return;
    const want = shown;
    answering = true;
    $("call-note").textContent = "A rule is being made of this call ...";
    draw_call();
    try {
      const o = await ask("/api/always", { session: want.session, call: want.call, digest: want.digest });
      if (shown === want) {
        rule = o;
        ruleAt = Date.now();
        $("rule-where").replaceChildren("In every session with ", bdi(o.policy));
        $("rule-text").textContent = o.text;
        setTimeout(draw_call, LOOK_MS + 20);
      }
      $("call-note").textContent = "";
    } catch (e) { $("call-note").textContent = e.message; }
    answering = false;
    draw_call();
    if (rule) $("rule-text").focus();
  }
  async function rule_yes() {
    if (!rule || !shown || answering) return;
    const o = { session: shown.session, call: shown.call, digest: shown.digest, grant: rule.rule };
    const call = shown.call, policy = rule.policy;
    answering = true;
    draw_call();
    try {
      await ask("/api/always", o);
      next_call(o);
      say(call + ": the rule is in force, and kept in " + policy);
    } catch (e) { say(call + ": " + e.message); }
    rule = null;
    answering = false;
    draw_call();
  }

  // ---- a session
  function fact(list, name, text) { list.push(el("dt", { textContent: name }), el("dd", null, bdi(text))); }
  function draw_session() {
    const s = state.sessions.find((x) => x.id === chosen.session);
    $("session").hidden = !s || Boolean(chosen.call);
    $("nothing").hidden = Boolean(s || chosen.call);
    if (!s || chosen.call) return;
    const list = [];
    $("session-name").textContent = s.id;
    fact(list, "Agent", s.agent);
    fact(list, "Workspace", s.workspace);
    fact(list, "Policy", s.policy);
    const until = s.until ? new Date(s.until) : null;
    fact(list, "State", s.state + (until > Date.now() ? ", used up until " + until.toLocaleString() : "") + (s.why ? ": " + s.why : "") +
      (s.is === "silent" ? ", and it does not answer" : s.is === "lost" ? ", and the connection is lost" : ""));
    $("facts").replaceChildren(...list);
    draw_orders(s);
    for (const t of $("tabs").children) {
      t.setAttribute("aria-selected", String(t.dataset.tab === tab));
      t.tabIndex = t.dataset.tab === tab ? 0 : -1;
    }
    $("pane").setAttribute("aria-labelledby", "tab-" + tab);
    draw_pane();
  }
  // ---- messages and orders: each names the session that is on the page
  function draw_orders(s) {
    const runs = s.is === "runs" || s.is === "silent";
    const talks = runs && s.talks;
    $("say").hidden = !talks;
    $("send").disabled = s.state !== "ready";
    $("interrupt").hidden = !talks || s.state === "ready";
    $("orders").hidden = !runs;
  }
  async function order(path, more, done) {
    const session = chosen.session;
    try {
      await ask(path, { session, ...more });
      say(done);
      return true;
    } catch (e) { say(e.message); }
    return false;
  }
  async function send() {
    const text = $("message").value.trim();
    if (!text || $("send").disabled) return;
    $("send").disabled = true;
    if (await order("/api/send", { text }, "The agent has your message.")) $("message").value = "";
    draw_session();
  }
  async function end_session() {
    $("stop-sure").hidden = true;
    $("detail").focus();
    await order("/api/stop", {}, "The session is ending.");
  }
  function draw_pane() {
    const more = state.chosen && state.chosen.id === chosen.session ? state.chosen : null;
    const pane = $("pane"), key = tab + " " + chosen.session;
    if (pane.dataset.of !== key) {
      pane.dataset.of = key;
      pane.replaceChildren();
      if (tab === "policy") draw_policy();
      if (tab === "audit") draw_audit();
      if (tab === "undo") draw_undo();
    }
    if (!more) return;
    if (tab === "budget") {
      if (!pane.firstChild) pane.append(el("pre"));
      pane.firstChild.textContent = more.budget || "This session counts nothing yet.";
    } else if (tab === "talk") {
      draw_items(more.talk, "The agent has said nothing that its adapter reads.", (i) =>
        [el("span", { className: "kind " + i.event, textContent: i.event.replace("_", " ") }), bdi(i.text)]);
    } else if (tab === "items") {
      draw_items(more.items, "Nothing has happened yet.", (i) =>
        [el("time", { textContent: clock(i.ms) }),
          el("span", { className: "kind " + i.kind, textContent: i.kind === "answered" ? i.state : i.kind }),
          bdi(i.text)]);
    } else if (tab === "servers") {
      draw_items(more.servers, "This session has no MCP servers.", (s) => [bdi(s.text)]);
    } else if (tab === "grants") {
      draw_items(more.grants.map((g) => ({ ...g, n: g.id })), "Nothing was allowed beyond single calls.", (g) =>
        [bdi(g.text), el("button", { type: "button", textContent: "Take back", onclick: () => revoke(g.id) })]);
    }
  }
  function draw_items(items, none, parts) {
    const pane = $("pane");
    if (!pane.firstChild) pane.append(el("ul"), el("p"));
    pane.lastChild.textContent = items.length ? "" : none;
    keep(pane.firstChild, items.map((i) => [String(i.n), i]), (i, old) => {
      const text = JSON.stringify(i);
      if (old && old.dataset.text === text) return old;
      const e = el("li", null, ...parts(i));
      e.dataset.text = text;
      return e;
    });
  }
  async function draw_policy() {
    const session = chosen.session;
    try {
      const o = await ask("/api/policy", { session });
      if (tab === "policy" && chosen.session === session)
        $("pane").replaceChildren(el("p", null, bdi(o.path + ", " + o.rules + " rules in force")),
          el("pre", { textContent: o.text }));
    } catch (e) { $("pane").replaceChildren(el("p", { textContent: e.message })); }
  }
  function draw_audit() {
    const input = el("input", { type: "search", autocomplete: "off", placeholder: "a tool, a path, a host ..." });
    input.setAttribute("aria-label", "Text to look for in the log");
    const out = el("ul"), note = el("p", { role: "status" });
    const form = el("form", null, input, el("button", { type: "submit", textContent: "Search" }));
    const session = chosen.session;
    form.addEventListener("submit", async (ev) => {
      ev.preventDefault();
      try {
        const o = await ask("/api/audit", { session, text: input.value.slice(0, 500) });
        note.textContent = o.records.length + " records, the newest first" +
          (o.cut ? "; older ones than those of the last 16 MiB are only in the file" : "");
        out.replaceChildren(...o.records.map((r) => el("li", null,
          el("time", { textContent: r.ts || "" }), el("span", { className: "kind", textContent: r.event || "" }),
          bdi(r.text + (r.cut ? " …" : "")))));
      } catch (e) { note.textContent = e.message; }
    });
    $("pane").replaceChildren(form, note, out);
  }
  // Undo: the checkpoints, the plan to go back to one, and the yes to that plan.
  function undo_name(c) {
    return c.of === "turn" ? "before turn " + c.turn : c.of === "after" ? "after turn " + c.turn
      : c.of === "start" ? "the start" : c.of === "end" ? "the end"
        : c.of === "undo" ? "before an undo" : c.name || "a checkpoint";
  }
  function undo_more(c) {
    if (c.why) return "not made: " + c.why;
    return new Date(c.time).toLocaleString() + ", " + c.files + " entries" +
      (c.leftOut ? ", " + c.leftOut + " left out" : "") +
      (c.loose ? ", " + c.loose + " changed while they were read" : "") +
      (c.late ? ", late: the turn had begun" : "");
  }
  function undo_on(session) { return tab === "undo" && chosen.session === session; }
  async function draw_undo() {
    const session = chosen.session, pane = $("pane");
    pane.replaceChildren(el("p", { textContent: "The checkpoints are being read ..." }));
    try {
      const o = await ask("/api/undo", { session });
      if (!undo_on(session)) return;
      const list = o.checkpoints.slice().reverse();
      pane.replaceChildren(
        el("p", { textContent: list.length ? "Go back to how the files were:" : "This session has no checkpoint." }),
        el("ul", null, ...list.map((c) => el("li", null,
          el("button", { type: "button", className: "back", disabled: Boolean(c.why), onclick: () => draw_plan(session, c) },
            bdi(undo_name(c))), " ", bdi(undo_more(c))))),
        el("button", { type: "button", textContent: "Look again", onclick: draw_undo }));
    } catch (e) { if (undo_on(session)) pane.replaceChildren(el("p", { textContent: e.message })); }
  }
  const undo_groups = [
	  [ "back", "Go back to what they were" ], [ "comeBack", "Come back" ],
	  [ "goAway", "Go away" ],
	  [ "left", "Changed after the last turn, left as they are" ],
	  [ "failed", "Could not be put back" ],
	  [ "leftOut", "Cannot be put back, as a checkpoint lacks them" ]
  ];
  function undo_group(title, rows) {
    return rows.length ? [el("h3", { textContent: title + " (" + rows.length + ")" }),
      el("ul", null, ...rows.map((r) => el("li", null, bdi(r.path + (r.why ? ": " + r.why : "")))))] : [];
  }
  async function draw_plan(session, c) {
    const pane = $("pane");
    pane.replaceChildren(el("p", { textContent: "The plan is being made: the files of now are saved first ..." }));
    try {
      const o = await ask("/api/undo", { session, call: String(c.checkpoint) });
      if (!undo_on(session)) return;
      const rows = undo_groups.slice(0, 3).flatMap(([key]) => o[key]);
      const later = rows.filter((r) => r.runsLater);
      const yes = el("button", { type: "button", id: "undo-yes", disabled: true, textContent: "Put these files back" });
      const no = el("button", { type: "button", id: "undo-no", textContent: "Leave it", onclick: draw_undo });
      yes.onclick = () => do_undo(session, c, o.plan);
      pane.replaceChildren(el("h3", null, "Back to checkpoint " + c.checkpoint + ", ", bdi(undo_name(c))),
        el("div", { className: "text", tabIndex: 0, role: "region", "aria-label": "Everything that the undo would do", id: "undo-plan" },
          ...undo_group("May run on this machine later", later),
          ...undo_groups.flatMap(([key, title]) => undo_group(title, o[key])),
          ...(rows.length ? [] : [el("p", { textContent: "There is nothing to put back." })])),
        el("div", { className: "buttons" }, ...(rows.length ? [yes] : []), no));
      $("undo-plan").focus();
      setTimeout(() => { yes.disabled = false; }, LOOK_MS + 20);
    } catch (e) {
      if (!undo_on(session)) return;
      say(e.message);
      draw_undo();
    }
  }
  async function do_undo(session, c, plan) {
    $("undo-yes").disabled = $("undo-no").disabled = true;
    try {
      const o = await ask("/api/undo", { session, call: String(c.checkpoint), digest: plan });
      say(o.whole ? "The files are back at checkpoint " + c.checkpoint + ". What was there before is checkpoint " + o.from + "."
        : o.failed.length + " files could not be put back.");
      if (!undo_on(session)) return;
      if (o.whole) { draw_undo(); return; }
      $("pane").replaceChildren(...undo_group(undo_groups[4][1], o.failed),
        el("button", { type: "button", textContent: "Back to the list", onclick: draw_undo }));
    } catch (e) {
      say(e.message);
      if (undo_on(session)) draw_undo();
    }
  }
  async function revoke(id) {
    try {
      await ask("/api/revoke", { session: chosen.session, call: id });
      say(id + ": taken back");
    } catch (e) { say(id + ": " + e.message); }
  }
  function draw() { draw_list(); draw_call(); draw_session(); }

  // ---- what people do
  $("approve").onclick = () => answer("approve");
  $("approve-session").onclick = () => answer("session");
  $("deny").onclick = () => answer("deny");
  $("always").onclick = always;
  $("rule-yes").onclick = rule_yes;
  $("rule-no").onclick = () => { rule = null; draw_call(); $("always").focus(); };
  // Enter in the reason denies, and in an answer sends it, as soon as the button would.
  $("answer").addEventListener("submit", (e) => {
    e.preventDefault();
    const verdict = shown && shown.question && !shown.address ? "approve" : "deny";
    if (!$(verdict).disabled) answer(verdict);
  });
  $("say").addEventListener("submit", (e) => { e.preventDefault(); send(); });
  $("message").onkeydown = (e) => {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
    e.preventDefault();
    send();
  };
  $("interrupt").onclick = () => order("/api/interrupt", {}, "The turn is being interrupted; the conversation goes on.");
  $("stop").onclick = () => { $("stop-sure").hidden = false; $("stop-no").focus(); };
  $("stop-no").onclick = () => { $("stop-sure").hidden = true; $("stop").focus(); };
  $("stop-yes").onclick = end_session;
  // Single keys only move the focus: what they lead to takes another key.
  function go(step) {
    const rows = [...$("sessions").querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement);
    const now = at !== -1 ? at : rows.findIndex((b) => b.getAttribute("aria-current") === "true");
    const to = rows[now === -1 ? 0 : Math.min(Math.max(now + step, 0), rows.length - 1)];
    if (to) to.focus();
  }
  function lead(id) {
    if ($("call").hidden || !the_call()) return;
    if (!$(id).disabled) { $(id).focus(); return; }
    wanted = id;
    $("call-text").focus();
  }
  document.addEventListener("keydown", (e) => {
    const typing = e.target.matches("input, textarea");
    if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing || $("page").hidden) return;
    if (e.key === "Escape") {
      $("stop-sure").hidden = true;
      wanted = "";
      if (typing || document.activeElement.closest("#detail")) $(shown ? "call-text" : "detail").focus();
      return;
    }
    if (typing) return;
    const keys = {
      j: () => go(1), k: () => go(-1), a: () => lead("approve"), d: () => lead("because"),
      m: () => { if (!$("session").hidden && !$("say").hidden) $("message").focus(); },
    };
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  $("filter").oninput = draw_list;
  $("logout").onclick = async () => {
    try { await ask("/api/logout", {}); } catch (e) { /* it is logged out all the same */ }
    logged_out("");
  };
  $("tabs").onclick = (e) => {
    if (e.target.dataset.tab) { tab = e.target.dataset.tab; draw_session(); }
  };
  $("tabs").onkeydown = (e) => {
    const all = [...$("tabs").children], i = all.findIndex((t) => t.dataset.tab === tab);
    const to = e.key === "ArrowRight" ? i + 1 : e.key === "ArrowLeft" ? i - 1 : -1;
    if (to < 0 || to >= all.length) return;
    tab = all[to].dataset.tab;
    draw_session();
    all[to].focus();
  };
  // A page that slept asks at once.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && token) again(); });
  addEventListener("online", () => token && again());
  addEventListener("hashchange", log_in);
  setInterval(() => {
    draw_call();
    for (const s of state.sessions) for (const c of s.calls) {
      const e = [...$("sessions").children].find((x) => x.dataset.key === "c " + s.id + " " + c.id);
      if (e) e.firstChild.lastChild.firstChild.textContent = left(c.left);
    }
  }, 1000);
  log_in();
})();
