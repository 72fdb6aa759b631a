// The Activity tab: what happens in this process as it happens, and the means to steer it. The
// banner over the screen says that somebody else is at work.

import { keepOpen, lines, post } from "./api.js";
import { attempt, button, byId, duration, el, foreign, more, press } from "./dom.js";
import { emit, mayAct, model, on, phone, refresh, setMode } from "./model.js";

/**
 * @typedef {{number: number, ms_ago: number, kind: string, device: string|null, text: string, ok?: boolean|null,
 *   took_ms?: number|null, act?: boolean, client?: string, detail?: object}} Event
 */

const list = byId("events");
const MAX_ROWS = 400;
const STATE_KINDS = new Set(["phone", "question", "answered", "hold"]);

let shown = "all";
/** @type {{event: Event, row: HTMLElement}[]} Calls that have not ended. */
let open = [];

function time(ms) {
  return new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

/** @param {Event} event */
function add(event) {
  const { kind, device, text, ok, took_ms: took, act, client, detail } = event;
  const began = kind === "call_started";
  const isCall = kind.startsWith("call");
  const sign = began ? "…" : ok === false ? "✗" : act ? "●" : isCall ? "○" : "◆";
  const what = act ? "acts" : isCall ? "looks" : "other";
  const row = el("li", { class: ok === false ? "failed" : began ? "open" : "", "data-what": what, "data-device": device ?? "" },
    el("time", {}, time(Date.now() - event.ms_ago)),
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    el("span", { class: "what" }, foreign(text), ok === false ? el("span", { class: "unseen" }, " (failed)") : null,
      client ? el("span", { class: "quiet client" }, foreign(client)) : null,
      detail ? more("More", () => el("pre", { tabindex: "0" }, foreign(JSON.stringify(detail, null, 2)))) : null),
    el("span", { class: "quiet" }, took === undefined || took === null ? "" : duration(took)));
  if (began) open.push({ event, row });
  else if (kind === "call_finished") {
    // The text of a failure goes on with its reason.
    const start = open.find(({ event: one }) => one.device === device && one.client === client && text.startsWith(one.text));
    start?.row.remove();
    open = open.filter((one) => one !== start);
  }
  filter(row);
  list.prepend(row);
  while (list.children.length > MAX_ROWS) list.lastChild.remove();
  byId("no-events").hidden = true;
}

function filter(row) {
  const isElsewhere = byId("this-phone").checked && row.dataset.device !== "" && row.dataset.device !== model.device;
  row.hidden = isElsewhere || (shown !== "all" && row.dataset.what !== shown);
}

function refilter() {
  press(document.querySelectorAll("[data-events]"), (one) => one.dataset.events === shown);
  for (const row of list.children) filter(row);
}

// Steering.

async function hold(how) {
  const { device } = model;
  await attempt(() => post("hold", { device, how }));
  await attempt(refresh);
}

async function takeOver() {
  await hold("pause");
  setMode("touch");
  byId("keyboard").focus({ preventScroll: true });
}

const takeOverButton = () => button("Take over", takeOver, { class: "main", title: "Everybody else waits while you use the phone" });
const handBack = () => button("Hand back", () => hold("hand_back"), { class: "main" });
const stop = () => button("Stop", () => hold("stop"), { title: "Ends the work of others on this phone" });

let steered = "";
function showSteering() {
  const one = phone();
  const holder = one?.holder;
  const can = mayAct() && one;
  // A button that is replaced during a click is not clicked.
  const next = JSON.stringify([one?.id, holder, one?.hold, can && true]);
  if (next === steered) return;
  steered = next;
  const steering = !can ? [] : one.hold ? [handBack(), one.hold === "paused" ? stop() : null]
    : [takeOverButton(), button("Pause", () => hold("pause")), stop()];
  const text = () => !one ? [] : one.hold === "paused" ? ["Paused. Others wait until you hand back."]
    : one.hold === "stopped" ? ["Stopped. Others can work again when you hand back."]
    : holder ? [foreign(holder), " is using this phone."] : ["Nobody else is using this phone."];
  replace(byId("steering"), [...steering, el("span", { class: "quiet grow" }, ...text())]);
  const banner = byId("banner");
  if (holder || one?.hold) byId("announce").textContent = byId("steering").lastChild.textContent;
  banner.hidden = !one || !(holder || one.hold);
  banner.className = one?.hold ? "banner open" : "banner";
  replace(banner, banner.hidden ? [] : [el("span", { class: "grow" }, ...text()),
    ...(!can ? [] : one.hold ? [handBack()] : [takeOverButton(), stop()])]);
}

/** Puts new children in; the focus goes to the button that does the same, or to the first. */
function replace(box, children) {
  const had = box.contains(document.activeElement) ? document.activeElement.textContent : null;
  box.replaceChildren(...children.filter(Boolean));
  if (had === null) return;
  const buttons = [...box.querySelectorAll("button")];
  (buttons.find((one) => one.textContent === had) ?? buttons[0])?.focus();
}

// The stream of events.

let last = 0;
function listen() {
  const showConnection = (text, isLost) => {
    byId("connection").textContent = text;
    byId("connection").classList.toggle("lost", isLost);
  };
  keepOpen(new AbortController().signal, async (alive) => {
    await refresh();
    // A server that was started again counts from the beginning.
    last = Math.min(last, model.state.last_event);
    showConnection(mayAct() ? "connected" : "connected, to look only", false);
    alive();
    emit("connected");
    for await (const event of lines("events?after=" + last)) {
      alive();
      last = event.number;
      add(event);
      emit("event", event);
      if (STATE_KINDS.has(event.kind)) attempt(refresh);
    }
  }, (error, pause) => showConnection(`connection lost, trying again in ${Math.ceil(pause / 1000)} s`, true));
}

/** Leases and holds begin with calls and end by time, without an event. */
const HOLD_MS = 3_000;
function watchHolds() {
  let isDue = false;
  on("event", () => (isDue = true));
  setInterval(() => {
    if (document.hidden || !(isDue || model.state?.phones.some((one) => one.holder || one.hold))) return;
    isDue = false;
    refresh().catch(() => {
      // The stream of events says so, and tries again.
    });
  }, HOLD_MS);
}

export function start() {
  for (const one of document.querySelectorAll("[data-events]")) {
    one.addEventListener("click", () => {
      shown = one.dataset.events;
      refilter();
    });
  }
  byId("this-phone").addEventListener("change", refilter);
  on("state", showSteering);
  on("device", () => {
    showSteering();
    refilter();
  });
  watchHolds();
  listen();
}
