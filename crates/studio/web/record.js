// The Record tab: what a hand does becomes steps of a flow, checks are added by clicking, and the
// text is checked, run from any step, and saved.

import { get, lines, post, withQuery } from "./api.js";
import { attempt, button, byId, debounce, download, duration, el, foreign, kept, say, twice } from "./dom.js";
import { mayAct, model, on, refresh, setMode } from "./model.js";

const flow = byId("flow");
const gutter = byId("lines");
const steps = byId("steps");
const check = byId("check");

/** The recording of the shown phone, as the server told it last. */
let recording;
/** @type {{line: number, text: string}[]} */
let parsed = [];
let errors = [];
/** @type {AbortController|null} The run of the flow. */
let running = null;

// The recording, which lives on the server.

async function record(what, more = {}) {
  const { device } = model;
  if (!device) return false;
  const answer = await attempt(() => post("record", { device, do: what, ...more }));
  if (!answer) return false;
  took(device, answer);
  // The list of phones says which are recorded.
  if (what !== "check") await attempt(refresh);
  return true;
}

async function poll() {
  const { device } = model;
  if (!device) return;
  const answer = await attempt(() => get(withQuery("record", { device })));
  if (answer) took(device, answer);
}

function took(device, answer) {
  if (device !== model.device) return;
  // Text of the person's own is replaced only by steps that are new.
  const isNew = answer.running ? !answer.error : answer.flow && answer.flow !== recording.flow;
  if (isNew) setText(answer.flow);
  recording = answer;
  kept.set("recorded." + device, answer.flow || null);
  show();
}

/** The text and the recording of the shown phone, as this tab knew them. */
function recall() {
  running?.abort();
  recording = { running: false, acts: 0, flow: kept.get("recorded." + model.device, ""), error: null };
  flow.value = kept.get("flow." + model.device, "");
  drawGutter();
  checkSoon();
  show();
}

function show() {
  const { running: on, acts, error } = recording;
  byId("record").textContent = on ? "Stop" : "Record";
  byId("record").setAttribute("aria-pressed", String(on));
  byId("tab-record").querySelector(".dot").hidden = !on;
  check.disabled = !on;
  byId("discard").disabled = !on && !flow.value;
  flow.readOnly = on;
  const how = model.mode === "check" ? "Click what must be there; Esc ends it." : `Recording: ${acts} ${acts === 1 ? "act" : "acts"}`;
  byId("recorded").replaceChildren(foreign(error ?? (on ? how : "")));
  byId("recorded").classList.toggle("changed", Boolean(error));
  byId("edited").hidden = !recording.flow || flow.value === recording.flow;
  if (!on && model.mode === "check") setMode("touch");
}

async function discard() {
  await record("discard");
  setText("");
  show();
}

// The text with line numbers and errors.

function setText(text) {
  if (text === flow.value) return;
  flow.value = text;
  keep();
  if (recording.running) flow.scrollTop = flow.scrollHeight;
}

function keep() {
  kept.set("flow." + model.device, flow.value || null);
  drawGutter();
  checkSoon();
}

function drawGutter() {
  const count = flow.value.split("\n").length;
  const bad = new Set(errors.map((error) => error.line));
  gutter.replaceChildren(...Array.from({ length: count }, (_, i) => el("li", { class: bad.has(i + 1) ? "bad" : "" }, String(i + 1))));
  gutter.scrollTop = flow.scrollTop;
}

const checkSoon = debounce(350, async () => {
  const text = flow.value;
  const answer = text.trim() ? await attempt(() => post("flow/check", { text })) : { steps: [], errors: [] };
  if (!answer || text !== flow.value) return;
  errors = answer.errors;
  // A text with a mistake keeps the steps that were there.
  if (errors.length === 0) parsed = answer.steps;
  drawGutter();
  const error = ({ line, text: what }) => el("li", {}, button("Line " + line, () => goTo(line)), foreign(what));
  byId("flow-errors").replaceChildren(...errors.map(error));
  enableRun();
  if (!running) showSteps();
});

function goTo(line) {
  const all = flow.value.split("\n");
  const from = all.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  flow.focus();
  flow.setSelectionRange(from, from + (all[line - 1] ?? "").length);
  flow.scrollTop = (line - 4) * (flow.scrollHeight / all.length);
}

// Steps and runs.

const SIGNS = { running: "▸", passed: "✓", failed: "✗", skipped: "–", warned: "!" };

function showSteps() {
  steps.replaceChildren(...parsed.map(({ line, text }, i) => el("li", {},
    el("span", { class: "sign", "aria-hidden": "true" }),
    button(foreign(text), () => goTo(line), { class: "step", title: "Line " + line }),
    mayAct() ? button("Run from here", () => run(i), { class: "from", disabled: errors.length > 0 }) : el("span"),
    el("span", { class: "quiet took" }),
    el("p", { class: "said", hidden: true }))));
}

function showStep({ step, status, text, took_ms: ms }) {
  const row = steps.children[step];
  if (!row) return;
  row.className = status;
  row.querySelector(".sign").textContent = SIGNS[status] ?? "";
  const took = status === "running" || ms === undefined ? "" : duration(ms);
  row.querySelector(".took").textContent = [status === "passed" ? "" : status, took].filter(Boolean).join(" · ");
  const said = row.querySelector(".said");
  const isNews = status === "failed" || status === "warned";
  said.hidden = !isNews;
  if (isNews) said.replaceChildren(foreign(text));
  if (status === "running") row.scrollIntoView({ block: "nearest" });
}

async function run(from) {
  const { device } = model;
  if (!device || running) return;
  if (recording.running) await record("stop");
  showSteps();
  running = new AbortController();
  showRunning("Running…");
  let end = { ended: "stopped", text: "" };
  try {
    for await (const line of lines("flow/run", { body: { device, text: flow.value, from }, signal: running.signal })) {
      if (line.ended) end = line;
      else showStep(line);
    }
  } catch (error) {
    say(error);
  }
  running = null;
  showRunning(end.ended === "passed" ? "Passed" : end.ended === "failed" ? "Failed" : "Stopped", end);
}

function enableRun() {
  byId("run").disabled = Boolean(running) || errors.length > 0 || parsed.length === 0;
}

function showRunning(text, end) {
  enableRun();
  byId("run-stop").hidden = !running;
  for (const one of steps.querySelectorAll(".from")) one.disabled = Boolean(running);
  byId("ended").className = "grow " + (end?.ended === "passed" ? "good" : end?.ended === "failed" ? "bad" : "quiet");
  const why = end && end.ended !== "passed" ? end.text : "";
  byId("ended").replaceChildren(text, why ? ": " : "", foreign(why));
}

async function save(kind) {
  const isEdited = flow.value !== recording.flow;
  if (kind === "flow" && isEdited) return flow.value.trim() ? download("flow.yaml", flow.value) : say("There is no flow yet.");
  const answer = await attempt(() => post("export", { device: model.device, as: kind }));
  if (answer) download(answer.name, answer.text);
}

async function saveSkill() {
  const answer = await attempt(() => post("export", { device: model.device, as: "skill", text: byId("goal").value }));
  if (answer) download(answer.name, answer.text);
}

export function start() {
  flow.addEventListener("input", () => {
    keep();
    show();
  });
  flow.addEventListener("scroll", () => (gutter.scrollTop = flow.scrollTop));
  const isOwn = () => !recording.running && flow.value.trim() !== "" && flow.value !== recording.flow;
  twice(byId("record"), "Replace the text?", isOwn, () => record(recording.running ? "stop" : "start"));
  twice(byId("discard"), "Discard all?", () => flow.value.trim() !== "", discard);
  check.addEventListener("click", () => setMode(model.mode === "check" ? "touch" : "check"));
  byId("run").addEventListener("click", () => run(0));
  byId("run-stop").addEventListener("click", () => running?.abort());
  for (const one of document.querySelectorAll("[data-save]")) one.addEventListener("click", () => save(one.dataset.save));
  byId("save-skill").addEventListener("click", () => {
    byId("skill").hidden = !byId("skill").hidden;
    byId("save-skill").setAttribute("aria-expanded", String(!byId("skill").hidden));
    if (!byId("skill").hidden) byId("goal").focus();
  });
  byId("skill").addEventListener("submit", (event) => {
    event.preventDefault();
    saveSkill();
  });
  on("checked", async (element) => {
    if (await record("check", { index: element.index })) say("The flow now checks that this element is there.");
  });
  on("mode", () => {
    check.setAttribute("aria-pressed", String(model.mode === "check"));
    show();
  });
  on("acted", () => recording.running && poll());
  let isKnown = false;
  on("state", () => {
    const isRecorded = model.state.recordings.includes(model.device);
    if (!isKnown || isRecorded !== recording.running) poll();
    isKnown = true;
  });
  on("device", () => {
    recall();
    isKnown = false;
  });
  recall();
}
