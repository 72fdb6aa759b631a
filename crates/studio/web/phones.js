// The phones: who they are, how they are, who uses them, and a small picture of each.

import { frames, withQuery } from "./api.js";
import { byId, el, foreign } from "./dom.js";
import { model, on, showDevice } from "./model.js";

const list = byId("phones");
/** Of the small pictures. */
const MAX_SIDE = 200;
/**
 * Between small pictures. Browsers open six connections to a server, so one is used for all phones
 * in turn, and many phones cost no more than two.
 */
const PAUSE_MS = 800;
/** A phone may take this long for a small picture. */
const LIMIT_MS = 3_000;

/**
 * `drawn` is when the small picture was taken; 0 if something has happened on the phone since.
 * @type {Map<string, {row: HTMLElement, button: HTMLButtonElement, facts: HTMLElement, canvas: HTMLCanvasElement, drawn: number}>}
 */
const rows = new Map();

function rowOf(phone) {
  const known = rows.get(phone.id);
  if (known) return known;
  const canvas = el("canvas", { "aria-hidden": "true", hidden: true });
  const facts = el("span", { class: "facts" });
  const button = el("button", { type: "button", onclick: () => showDevice(phone.id) }, el("span", { class: "thumb" }, canvas), facts);
  const parts = { row: el("li", {}, button), button, facts, canvas, drawn: 0 };
  rows.set(phone.id, parts);
  return parts;
}

function show() {
  const { phones } = model.state;
  for (const id of rows.keys()) if (!phones.some((phone) => phone.id === id)) rows.delete(id);
  const shown = phones.map((phone) => {
    const { row, button, facts } = rowOf(phone);
    const is = phone.id === model.device;
    if (is) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    facts.replaceChildren(...[
      foreign(phone.model || phone.id, { class: "model" }),
      el("span", { class: "quiet" }, foreign(phone.id), phone.platform === "ios" ? " · iOS" : " · Android"),
      el("span", { class: phone.ready ? "state ready" : "state" }, foreign(phone.ready ? "ready" : phone.state)),
      phone.holder ? el("span", { class: "state held" }, "used by ", foreign(phone.holder)) : null,
      phone.hold ? el("span", { class: "state held" }, phone.hold) : null,
      model.state.recordings.includes(phone.id) ? el("span", { class: "state recorded" }, "recording") : null,
    ].filter(Boolean));
    return row;
  });
  // Moving a row would take its focus away.
  if (shown.length !== list.children.length || shown.some((row, i) => row !== list.children[i])) list.replaceChildren(...shown);
  list.classList.toggle("several", phones.length > 2);
  byId("no-phones").hidden = phones.length > 0;
}

function draw(canvas, source) {
  const width = Math.max(1, Math.round((MAX_SIDE * source.width) / Math.max(source.width, source.height)));
  const height = Math.max(1, Math.round((MAX_SIDE * source.height) / Math.max(source.width, source.height)));
  canvas.hidden = false;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d", { alpha: false });
  context.imageSmoothingQuality = "high";
  context.drawImage(source, 0, 0, width, height);
}

/** The next small picture: of the phone whose last one is the oldest. */
async function next() {
  const others = (model.state?.phones ?? []).filter((phone) => phone.ready && phone.id !== model.device && rows.has(phone.id));
  const oldest = others.map((phone) => ({ id: phone.id, row: rows.get(phone.id) })).sort((a, b) => a.row.drawn - b.row.drawn)[0];
  if (oldest && !document.hidden) await take(oldest);
  setTimeout(next, PAUSE_MS);
}

async function take({ id, row }) {
  row.drawn = performance.now();
  const stop = new AbortController();
  const limit = setTimeout(() => stop.abort(), LIMIT_MS);
  try {
    for await (const { picture } of frames(withQuery("screen", { device: id, max_side: MAX_SIDE }), { signal: stop.signal })) {
      const bitmap = picture && (await createImageBitmap(new Blob([picture])));
      if (bitmap) draw(row.canvas, bitmap);
      bitmap?.close();
      break;
    }
  } catch {
    // Its state says what is wrong with it.
  }
  clearTimeout(limit);
  stop.abort();
}

export function start() {
  on("state", show);
  on("device", () => model.state && show());
  let planned = 0;
  on("drawn", () => {
    planned ||= setTimeout(() => {
      planned = 0;
      const row = rows.get(model.device);
      if (row && byId("stage").classList.contains("on")) draw(row.canvas, byId("screen"));
    }, 400);
  });
  on("event", ({ device }) => rows.has(device) && (rows.get(device).drawn = 0));
  next();
}
