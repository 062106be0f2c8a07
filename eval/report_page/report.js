"use strict";
/* The episode browser. Every text from the data is set as the text of a node: nothing here parses HTML. */
(() => {
  const PAGE = 25;
  const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;
  const byId = (id) => document.getElementById(id);
  const visible = (text) =>
    String(text).replace(HIDDEN, (c) => "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");

  const node = (name, properties = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    for (const child of children.flat()) {
      if (child !== null && child !== "") made.append(child instanceof Node ? child : visible(child));
    }
    return made;
  };
  const quoted = (text) => node("bdi", {}, text);

  const index = JSON.parse(byId("index").textContent);
  const loaded = new Map();

  const load = (id) => {
    if (!loaded.has(id)) loaded.set(id, read(byId(id).textContent));
    return loaded.get(id);
  };

  async function read(text) {
    if (index.plain) return JSON.parse(text);
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot decompress the episodes. Write the report again with --plain.");
    }
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  /* An episode in the compact form, see report_episodes.py. */
  const unpack = ([question, answer, end, metrics, passages, costs, support, steps], shared) => {
    const [uid, id, text, type, hops, answers, gold] = shared.questions[question];
    const named = (values) => Object.fromEntries(shared.costs.map((name, i) => [name, values[i] || 0]));
    const measured = Object.fromEntries(shared.metrics.map((name, i) => [name, metrics[i]]));
    return {
      uid, id, text, type, hops, answers, gold: gold && new Set(gold), measured, passages, support, steps,
      answer: shared.texts[answer], end: shared.texts[end], costs: named(costs),
      failed: steps.some((step) => step[10] >= 0),
    };
  };

  let shared = null;
  let episodes = [];
  let matching = [];
  let page = 0;
  let current = "";

  const field = (name) => byId("choose-" + name);
  const fill = (select, values, any) => {
    const before = select.value;
    const options = values.map((value) => node("option", { value }, value));
    select.replaceChildren(...(any ? [node("option", { value: "" }, any)] : []), ...options);
    if ([...select.options].some((option) => option.value === before)) select.value = before;
  };
  const dataSet = () => index.data.find((one) => one.name === field("data").value);
  const distinct = (values) => [...new Set(values)].filter((value) => value !== "" && value !== 0).sort();

  const fillMethods = () => {
    fill(field("protocol"), Object.keys(dataSet().protocols));
    fill(field("method"), Object.keys(dataSet().protocols[field("protocol").value]));
  };

  const prefer = (name, value) => {
    if ([...field(name).options].some((option) => option.value === value)) field(name).value = value;
  };

  async function open() {
    const chunk = dataSet().protocols[field("protocol").value][field("method").value];
    byId("status").textContent = "Reading the episodes…";
    try {
      shared = await load(dataSet().shared);
      episodes = (await load(chunk)).map((episode) => unpack(episode, shared));
    } catch (error) {
      byId("status").textContent = error.message;
      return;
    }
    fill(field("type"), distinct(episodes.map((e) => e.type)), "any");
    fill(field("hops"), distinct(episodes.map((e) => e.hops)).map(String), "any");
    fill(field("end"), distinct(episodes.map((e) => e.end)), "any");
    fill(field("operation"), [...shared.operations].sort(), "any");
    filter();
  }

  const outcomes = {
    all: (e) => e.measured.full_support === 1,
    some: (e) => e.measured.full_support === 0,
    none: (e) => e.measured.support_recall === 0,
  };
  const answersRight = {
    right: (e) => e.measured.answer_f1 === 1,
    partly: (e) => e.measured.answer_f1 > 0 && e.measured.answer_f1 < 1,
    wrong: (e) => e.measured.answer_f1 === 0,
  };
  const tokens = (e) => e.costs.prompt_tokens + e.costs.completion_tokens;
  const orders = {
    recall: (a, b) => a.measured.support_recall - b.measured.support_recall,
    f1: (a, b) => a.measured.answer_f1 - b.measured.answer_f1,
    tokens: (a, b) => tokens(b) - tokens(a),
    steps: (a, b) => b.steps.length - a.steps.length,
  };

  const filter = () => {
    const value = (name) => field(name).value;
    const wanted = value("search").trim().toLowerCase();
    const operation = value("operation") ? shared.operations.indexOf(value("operation")) : -1;
    const tests = [
      value("type") && ((e) => e.type === value("type")),
      value("hops") && ((e) => String(e.hops) === value("hops")),
      value("end") && ((e) => e.end === value("end")),
      value("support") && outcomes[value("support")],
      value("f1") && answersRight[value("f1")],
      operation >= 0 && ((e) => e.steps.some((step) => step[0] === operation)),
      value("failed") && ((e) => e.failed),
      wanted && ((e) => e.text.toLowerCase().includes(wanted) || e.id === wanted || e.uid === wanted),
    ].filter(Boolean);
    matching = episodes.filter((e) => tests.every((test) => test(e)));
    if (orders[value("order")]) matching.sort(orders[value("order")]);
    page = 0;
    list();
  };

  const link = (uid, method = field("method").value, protocol = field("protocol").value) =>
    "#episode/" + [field("data").value, protocol, method, uid].map(encodeURIComponent).join("/");

  const number = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits));

  const list = () => {
    const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1);
    const first = page * PAGE;
    byId("status").textContent = `${matching.length} of ${episodes.length} episodes`;
    byId("page").textContent = `page ${page + 1} of ${last + 1}`;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page >= last;
    byId("list").replaceChildren(...matching.slice(first, first + PAGE).map(item));
  };

  const item = (e) => {
    const said = `support ${number(e.measured.support_recall)}, F1 ${number(e.measured.answer_f1)}, ` +
      `${e.steps.length} steps, ${[e.type, e.hops ? e.hops + " hops" : ""].filter(Boolean).join(", ")}`;
    const a = node("a", { href: link(e.uid) }, quoted(e.text), node("small", {}, said));
    if (e.uid === current) a.setAttribute("aria-current", "true");
    return node("li", {}, a);
  };

  const isGold = (e, [id, title]) => Boolean(e.gold && (e.gold.has(id) || e.gold.has(title)));
  const passage = (e, n) => {
    const mark = isGold(e, shared.passages[n]) ? node("span", { class: "good" }, " ✓ support") : null;
    return node("li", {}, quoted(shared.passages[n][1]), mark);
  };
  const facts = (pairs) =>
    node("dl", {}, pairs.filter(([, shown]) => shown !== null && shown !== "").map(([name, shown]) => [
      node("dt", {}, name), node("dd", {}, shown),
    ]).flat());
  const spent = (costs) =>
    shared.costs.map((name, i) => (costs[i] ? `${costs[i]} ${name.replace(/_/g, " ")}` : "")).filter(Boolean).join(", ");

  const operationRows = ([ran, valid, values, vetoed]) => {
    const state = (n) =>
      n === ran ? "● ran" : vetoed.includes(n) ? "⊘ vetoed" : valid.includes(n) ? "○ could run" : "– masked";
    const value = (n) => (values && valid.includes(n) ? number(values[valid.indexOf(n)], 3) : "");
    const order = shared.operations.map((_, n) => n).sort((a, b) => valid.includes(b) - valid.includes(a) || a - b);
    return order.map((n) => node("tr", { class: n === ran ? "ran" : valid.includes(n) ? "" : "off" },
      node("th", { scope: "row" }, shared.operations[n]), node("td", { class: "word" }, state(n)), values ? node("td", {}, value(n)) : null));
  };

  const step = (e, given, n) => {
    const [ran, , , , query, brought, verdict, sufficiency, gap, costs, failure, gate] = given;
    const text = (i) => (i >= 0 ? quoted(shared.texts[i]) : "");
    const head = ["operation", "mask", ...(given[2] ? ["value"] : [])].map((name) => node("th", { scope: "col", ...(name === "mask" ? { class: "word" } : {}) }, name));
    const table = node("table", {}, node("thead", {}, node("tr", {}, head)), node("tbody", {}, operationRows(given)));
    const judged = verdict === null ? "" : `${verdict ? "sufficient" : "not sufficient"} (${number(sufficiency)})`;
    return node("section", { class: "step" },
      node("h4", {}, `Step ${n + 1}: ${shared.operations[ran]}`),
      facts([
        ["searched", text(query)],
        ["brought", brought.length ? node("ul", {}, brought.map((i) => passage(e, i))) : ""],
        ["verdict", judged],
        ["missing", text(gap)],
        ["gate", text(gate)],
        ["failed", failure >= 0 ? node("span", { class: "bad" }, text(failure)) : ""],
        ["cost", spent(costs)],
      ]),
      node("div", { class: "scroll" }, table));
  };

  const others = (e) => {
    const links = [];
    for (const [protocol, methods] of Object.entries(dataSet().protocols)) {
      for (const method of Object.keys(methods)) {
        const here = protocol === field("protocol").value && method === field("method").value;
        if (!here) links.push(node("a", { href: link(e.uid, method, protocol) }, `${protocol}: ${method}`), " ");
      }
    }
    return node("details", { class: "other" }, node("summary", {}, "The same question by other methods"), links);
  };

  const show = (e) => {
    const whole = e.measured.full_support === 1;
    const outcome = e.measured.support_recall === null ? "" : node("span", { class: whole ? "good" : "bad" },
      `${whole ? "✓ all" : "✗ not all"} support found (${number(e.measured.support_recall)})`);
    const missing = e.gold ? [...e.gold].filter((one) => !e.passages.some((n) => shared.passages[n].includes(one))) : [];
    byId("episode").replaceChildren(
      node("p", { class: "back" }, node("a", { href: "#episodes" }, "Back to the list")),
      node("h3", { id: "episode-title", tabindex: "-1" }, quoted(e.text)),
      node("p", { class: "facts" }, [field("data").value, field("protocol").value, field("method").value, e.type,
        e.hops ? `${e.hops} hops` : "", `ended by ${e.end}`].filter(Boolean).join(" · ")),
      facts([
        ["answer", e.answer ? quoted(e.answer) : "(none)"],
        ["gold", e.answers.length ? e.answers.map((a, i) => [i ? ", " : "", quoted(a)]).flat() : ""],
        ["score", e.measured.answer_f1 === null ? "" : `F1 ${number(e.measured.answer_f1)}, EM ${number(e.measured.answer_em)}`],
        ["support", outcome],
        ["R@2, R@5", e.measured.recall_at_2 === null ? "" : `${number(e.measured.recall_at_2)}, ${number(e.measured.recall_at_5)}`],
        ["not found", missing.length ? node("ul", {}, missing.map((one) => node("li", {}, quoted(one)))) : ""],
        ["cost", spent(shared.costs.map((name) => e.costs[name]))],
      ]),
      ...e.steps.map((given, n) => step(e, given, n)),
      node("h4", {}, `Held at the end: ${e.passages.length} passages`),
      node("ul", {}, e.passages.map((n) => passage(e, n))),
      others(e));
    byId("episode").hidden = false;
  };

  async function follow() {
    if (!location.hash.startsWith("#episode/")) return;
    let parts;
    try {
      parts = location.hash.slice("#episode/".length).split("/").map(decodeURIComponent);
    } catch {
      return;
    }
    const [data, protocol, method, uid] = parts;
    const known = index.data.find((one) => one.name === data);
    if (!known || !Object.hasOwn(known.protocols, protocol) || !Object.hasOwn(known.protocols[protocol], method)) {
      byId("status").textContent = "The link names an episode that is not in this report.";
      return;
    }
    const same = shared && field("data").value === data && field("protocol").value === protocol && field("method").value === method;
    if (!same) {
      field("data").value = data;
      fill(field("protocol"), Object.keys(known.protocols));
      field("protocol").value = protocol;
      fill(field("method"), Object.keys(known.protocols[protocol]));
      field("method").value = method;
      await open();
    }
    const found = episodes.find((e) => e.uid === uid);
    if (!found) {
      byId("status").textContent = "The link names a question that is not in this report.";
      return;
    }
    current = uid;
    const place = matching.indexOf(found);
    if (place >= 0) page = Math.floor(place / PAGE);
    list();
    show(found);
    byId("episode-title").focus({ preventScroll: true });
    byId("episode").scrollIntoView({ block: "start" });
  }

  const start = () => {
    if (!index.data.length) return;
    fill(field("data"), index.data.map((one) => one.name));
    fillMethods();
    prefer("protocol", "free");
    fillMethods();
    prefer("method", "learned");
    for (const name of ["data", "protocol", "method"]) {
      field(name).addEventListener("change", () => { fillMethods(); open(); });
    }
    for (const name of ["type", "hops", "end", "support", "f1", "operation", "failed", "order"]) {
      field(name).addEventListener("change", filter);
    }
    let waiting = 0;
    field("search").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, 150);
    });
    byId("previous").addEventListener("click", () => { page -= 1; list(); });
    byId("next").addEventListener("click", () => { page += 1; list(); });
    addEventListener("hashchange", follow);
    if (location.hash.startsWith("#episode/")) follow();
    else open();
  };

  start();
})();
