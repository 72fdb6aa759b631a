// The Runs tab: the suites and traces on disk; open one as its report, or compare two runs step by
// step.

import { get, post, withQuery } from "./api.js";
import { attempt, button, byId, duration, el, foreign } from "./dom.js";

const list = byId("runs");
const opened = byId("opened");

/** @type {{id: string, name: string, kind: string, started: string, status: string, ok: boolean|null, steps: number, ms: number}[]} */
let runs = [];
/** Ids of the runs to compare, at most two, oldest choice first. */
let chosen = [];
let isLoaded = false;
/** The run whose report is open. */
let reported = null;
/** What had the focus before something was opened. */
let before = null;

async function load() {
  const answer = await attempt(() => get("runs"));
  if (!answer) return;
  isLoaded = true;
  runs = answer.runs;
  byId("suites").hidden = answer.suites.length === 0;
  byId("suites-list").replaceChildren(...answer.suites.map(suite));
  chosen = chosen.filter((id) => runs.some((run) => run.id === id));
  show();
}

function show() {
  const words = byId("runs-filter").value.trim().toLowerCase();
  const textOf = ({ name, kind, status, started }) => [name, kind, status, started].join("\n").toLowerCase();
  const matching = runs.filter((run) => textOf(run).includes(words));
  list.replaceChildren(...matching.map(row));
  byId("no-runs").hidden = matching.length > 0;
  byId("no-runs").textContent = runs.length > 0 ? "No run matches."
    : "No run has been recorded yet. Flows and agents leave their traces here.";
  byId("compare").disabled = chosen.length !== 2;
}

function row(run) {
  const { id, name, kind, started, status, ok, steps, ms } = run;
  const sign = ok === true ? "✓" : ok === false ? "✗" : "–";
  const label = `Compare ${name}, ${started}`;
  const box = el("input", { type: "checkbox", "aria-label": label, onchange: () => choose(id, box.checked) });
  box.checked = chosen.includes(id);
  return el("li", { class: ok === true ? "passed" : ok === false ? "failed" : "" }, box,
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    el("span", { class: "what" },
      el("button", { type: "button", class: "open", onclick: () => openReport(run) }, foreign(name)),
      el("span", { class: "quiet" }, foreign(status), ` · ${kind} · ${steps} ${steps === 1 ? "step" : "steps"} · ${duration(ms)}`),
      el("span", { class: "quiet" }, foreign(started))));
}

/** A suite: how many passed each time, as a chart, and as a table whose rows lead to the reports. */
function suite({ name, times }) {
  const last = times.at(-1);
  const row = (time) => el("tr", {},
    el("td", {}, button(foreign(time.started), () => openReport({ id: time.id, name }), { class: "open" })),
    ...[time.passed, time.flaky, time.failed, time.skipped].map((count) => el("td", { class: "took" }, String(count))));
  const head = ["When", "passed", "flaky", "failed", "skipped"].map((text) => el("th", { scope: "col" }, text));
  return el("details", {},
    el("summary", { class: "suite" }, foreign(name), chart(times),
      el("span", { class: "quiet" }, `${passed(last)} of ${total(last)} passed`)),
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, [...times].reverse().map(row))));
}

const passed = (time) => time.passed + time.flaky;
const total = (time) => passed(time) + time.failed + time.skipped;

/** A bar for each time, as high as the part that passed; the table says the same in words. */
function chart(times) {
  const [wide, high] = [6, 24];
  const draw = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    return node;
  };
  const svg = draw("svg", { class: "chart", "aria-hidden": "true", width: wide * times.length, height: high });
  times.forEach((time, i) => {
    const good = Math.round((high * passed(time)) / Math.max(1, total(time)));
    const bar = { x: i * wide, width: wide - 1 };
    svg.append(draw("rect", { ...bar, class: "failed", y: 0, height: high - good }), draw("rect", { ...bar, class: "passed", y: high - good, height: good }));
  });
  return svg;
}

function choose(id, is) {
  chosen = is ? [...chosen, id].slice(-2) : chosen.filter((one) => one !== id);
  const at = list.contains(document.activeElement) ? [...list.querySelectorAll("input")].indexOf(document.activeElement) : -1;
  show();
  if (at >= 0) list.querySelectorAll("input")[at]?.focus();
}

function openWith(title, ...children) {
  before ??= document.activeElement;
  byId("opened-title").replaceChildren(...title);
  byId("opened-body").replaceChildren(...children);
  byId("opened-tab").hidden = !reported;
  opened.hidden = false;
  byId("studio").inert = true;
  byId("opened-title").focus();
}

function close() {
  opened.hidden = true;
  byId("studio").inert = false;
  byId("opened-body").replaceChildren();
  before?.focus();
  before = null;
}

/**
 * An address for one opening of a report. A frame cannot send the key, and a blob's document would
 * have this page's policy, under which a report has neither style nor script.
 */
const reportPath = async (id) => (await post("runs/open", { id })).path;

async function openReport({ id, name }) {
  const path = await attempt(() => reportPath(id));
  if (!path) return;
  reported = id;
  // A report may run its own script, and reaches nothing of this page.
  openWith([foreign(name)], el("iframe", { class: "report", title: "Report: " + name, sandbox: "allow-scripts", src: path }));
}

async function openTab() {
  const path = await attempt(() => reportPath(reported));
  if (path) window.open(path, "_blank", "noopener");
}

async function compare() {
  // The older run is on the left.
  const [a, b] = runs.filter((run) => chosen.includes(run.id)).reverse();
  const answer = await attempt(() => get(withQuery("runs/compare", { a: a.id, b: b.id })));
  if (!answer) return;
  reported = null;
  const different = answer.rows.filter((one) => !one.same).length;
  const cell = (text) => el("td", { class: text === null ? "missing" : "" }, text === null ? "–" : foreign(text));
  const took = (ms) => el("td", { class: "took" }, ms === null || ms === undefined ? "" : duration(ms));
  const head = ({ name, started }) => el("th", { scope: "col" }, foreign(name), el("span", { class: "quiet" }, foreign(started)));
  const column = (text) => el("th", { scope: "col", class: "took" }, text);
  openWith([different === 0 ? "Both runs took the same steps" : `${different} of ${answer.rows.length} steps differ`],
    el("div", { class: "compared", tabindex: "0", role: "region", "aria-label": "Steps of both runs" },
      el("table", {},
        el("thead", {}, el("tr", {}, column("#"), head(a), column("time"), head(b), column("time"))),
        el("tbody", {}, answer.rows.map((one, i) => el("tr", { class: one.same ? "" : "differs" },
          el("td", { class: "took" }, String(i + 1), one.same ? null : el("span", { class: "unseen" }, " differs")),
          cell(one.a), took(one.a_ms), cell(one.b), took(one.b_ms)))))));
}

export function start() {
  byId("runs-filter").addEventListener("input", show);
  byId("runs-reload").addEventListener("click", load);
  byId("compare").addEventListener("click", compare);
  byId("opened-close").addEventListener("click", close);
  byId("opened-tab").addEventListener("click", openTab);
  opened.addEventListener("keydown", (event) => event.key === "Escape" && close());
}

/** The tab is shown. */
export function shown() {
  if (!isLoaded) load();
}
