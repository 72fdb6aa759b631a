// The phones: who they are, how they are, who uses them, and a small picture of each.

import { frames, withQuery } from "./api.js";
import { byId, el, foreign } from "./dom.js";
import { model, on, otherHolder, showDevice } from "./model.js";

const list = byId("phones");
/** Of the small pictures. */
const MAX_SIDE = 200;
/** Browsers open six connections to a server. So one is used for all small pictures, in turn. */
const ROUND_MS = 2_500;

/** @type {Map<string, {row: HTMLElement, button: HTMLButtonElement, facts: HTMLElement, canvas: HTMLCanvasElement}>} */
const rows = new Map();

function rowOf(phone) {
  const known = rows.get(phone.id);
  if (known) return known;
  const canvas = el("canvas", { "aria-hidden": "true", hidden: true });
  const facts = el("span", { class: "facts" });
  const button = el("button", { type: "button", onclick: () => showDevice(phone.id) }, el("span", { class: "thumb" }, canvas), facts);
  const made = { row: el("li", {}, button), button, facts, canvas };
  rows.set(phone.id, made);
  return made;
}

function show() {
  const { phones } = model.state;
  for (const id of rows.keys()) if (!phones.some((phone) => phone.id === id)) rows.delete(id);
  const shown = phones.map((phone) => {
    const { row, button, facts } = rowOf(phone);
    const is = phone.id === model.device;
    if (is) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    const holder = otherHolder(phone);
    facts.replaceChildren(...[
      foreign(phone.model || phone.id, { class: "model" }),
      el("span", { class: "quiet" }, foreign(phone.id), phone.platform === "ios" ? " · iOS" : " · Android"),
      el("span", { class: phone.ready ? "state ready" : "state" }, foreign(phone.state)),
      holder ? el("span", { class: "state held" }, "used by ", foreign(holder)) : null,
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

/** One picture of each other phone, then a pause. */
async function round() {
  const others = (model.state?.phones ?? []).filter((phone) => phone.ready && phone.id !== model.device);
  for (const { id } of document.hidden ? [] : others) {
    const stop = new AbortController();
    const limit = setTimeout(() => stop.abort(), ROUND_MS);
    try {
      for await (const { picture } of frames(withQuery("screen", { device: id, max_side: MAX_SIDE }), { signal: stop.signal })) {
        if (!picture) break;
        const bitmap = await createImageBitmap(picture);
        const row = rows.get(id);
        if (row) draw(row.canvas, bitmap);
        bitmap.close();
        break;
      }
    } catch {
      // Its state says what is wrong with it.
    }
    clearTimeout(limit);
    stop.abort();
  }
  setTimeout(round, ROUND_MS);
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
  round();
}
