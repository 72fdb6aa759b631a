// What all parts of the page share: the server's state, the shown phone, what the pointer does, the
// last look, and the queue of acts. Parts listen to what changed; none calls another.

import { get, post } from "./api.js";
import { attempt, kept, say } from "./dom.js";

/**
 * @typedef {{id: string, model: string, platform: "android"|"ios", state: string, ready: boolean,
 *   holder: string|null, hold: null|"paused"|"stopped"}} Phone the holder is a program, never this page
 * @typedef {{index: number, parent: number|null, ref: string|null, number: string|null, name: string,
 *   class: string, package: string, id: string, text: string, description: string, hint: string,
 *   bounds: number[], flags: string[], visible: boolean}} Element
 * @typedef {"touch"|"inspect"|"check"} Mode
 */

const target = new EventTarget();
/** Names: state, device, mode, look, looking, selected, checked, drawn, acting, acted, event, connected, tab. */
export const on = (name, listener) => target.addEventListener(name, (event) => listener(event.detail));
export const emit = (name, detail) => target.dispatchEvent(new CustomEvent(name, { detail }));

export const model = {
  /** The last answer of api/state. */
  state: null,
  /** @type {string|null} The id of the shown phone. */
  device: kept.get("device"),
  /** @type {Mode} */
  mode: "touch",
  /** The last answer of api/look for the shown phone. */
  look: null,
  /** The pictures have changed since the last look. */
  stale: false,
  /** @type {number|null} The index of the chosen element. */
  selected: null,
  /** Size of the shown phone, in the coordinates that touches use. */
  size: { width: 0, height: 0 },
};

/** @returns {Phone|undefined} */
export const phone = () => model.state?.phones.find((one) => one.id === model.device);
export const mayAct = () => model.state?.scope === "act";
/** @returns {Element|undefined} */
export const selected = () => model.look?.elements.find((one) => one.index === model.selected);

let fetching = null;
/** Asks for the state. Calls during a request share the next one. */
export function refresh() {
  fetching ??= Promise.resolve().then(async () => {
    const later = get("state");
    fetching = null;
    model.state = await later;
    const { phones, device } = model.state;
    const has = (id) => phones.some((one) => one.id === id);
    if (!has(model.device)) showDevice(has(device) ? device : (phones.find((one) => one.ready) ?? phones[0])?.id ?? null);
    emit("state");
  });
  return fetching;
}

/** @param {string|null} id */
export function showDevice(id) {
  if (id === model.device) return;
  model.device = id;
  kept.set("device", id);
  Object.assign(model, { look: null, selected: null, stale: false, size: { width: 0, height: 0 } });
  setMode("touch");
  emit("device");
  emit("look");
}

/** @param {Mode} mode */
export function setMode(mode) {
  const next = mode === "touch" || model.device ? mode : "touch";
  if (next === model.mode) return;
  model.mode = next;
  emit("mode");
}

/** @param {number|null} index */
export function select(index) {
  model.selected = index;
  emit("selected");
}

let looking = null;
/** Looks at the elements of the shown phone; one look at a time. */
export function look() {
  const device = model.device;
  if (!device) return Promise.resolve();
  looking ??= attempt(async () => {
    emit("looking", true);
    const wasStale = model.stale;
    model.stale = false;
    const seen = await post("look", { device }).catch((error) => {
      model.stale = wasStale;
      throw error;
    });
    if (device !== model.device) return;
    model.look = { ...seen, at: Date.now() };
    if (!selected()) model.selected = null;
    emit("look");
  }).finally(() => {
    looking = null;
    emit("looking", false);
  });
  return looking;
}

let last = Promise.resolve();
/**
 * Lets the shown phone do something, after what was asked before.
 * @param {unknown} action the JSON of an action
 */
export function act(action) {
  const device = model.device;
  if (!device || !mayAct()) return Promise.resolve(false);
  // Characters that are still being collected go first.
  emit("acting");
  const done = last.then(async () => {
    try {
      await post("act", { device, action });
      emit("acted", { device });
      return true;
    } catch (error) {
      say(error);
      return false;
    }
  });
  last = done;
  return done;
}
