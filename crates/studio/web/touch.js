// What a pointer does on the picture: tap, long press, swipe, drag and wheel in touch mode, pointing
// at elements in the others.

import { byId } from "./dom.js";
import { act, emit, look, mayAct, model, select } from "./model.js";
import { showFinger, showHovered, showTouch } from "./overlay.js";

const stage = byId("stage");
const LONG_MS = 500;
/** Movement below this, in CSS pixels, is a trembling hand. */
const STILL = 8;
const WHEEL_PAUSE_MS = 90;

/**
 * @typedef {{x: number, y: number}} Place
 * @type {null | {id: number, from: Place, to: Place, css: Place, began: number, moved: number, isLong: boolean, timer: number}}
 */
let finger = null;

/** The place of an event in the phone's coordinates, always inside the screen. */
function place(event) {
  const box = stage.getBoundingClientRect();
  const { width, height } = model.size;
  const inside = (value, size) => Math.max(0, Math.min(size - 1, Math.floor(value)));
  return {
    x: inside(((event.clientX - box.left) / box.width) * width, width),
    y: inside(((event.clientY - box.top) / box.height) * height, height),
  };
}

/** The smallest visible element of the last look there; of equals the last, which is on top. */
function elementAt({ x, y }) {
  let best = null;
  let smallest = Infinity;
  for (const element of model.look?.elements ?? []) {
    const [left, top, right, bottom] = element.bounds;
    const area = (right - left) * (bottom - top);
    if (element.visible && left <= x && x < right && top <= y && y < bottom && area <= smallest) [best, smallest] = [element, area];
  }
  return best;
}

/** Chooses the element there on the present screen. */
async function pick(at) {
  const { mode } = model;
  if (!model.look || model.stale) await look();
  const found = elementAt(at);
  if (found && mode === model.mode) mode === "check" ? emit("checked", found) : select(found.index);
}

function down(event) {
  if (event.button !== 0 || !model.size.width) return;
  event.preventDefault();
  // A finger would bring the keyboard of this device with each touch.
  if (event.pointerType !== "touch") byId("keyboard").focus({ preventScroll: true });
  if (model.mode !== "touch") return void pick(place(event));
  if (!mayAct() || finger) return;
  stage.setPointerCapture(event.pointerId);
  const from = place(event);
  const timer = setTimeout(() => {
    if (!finger || finger.from !== finger.to) return;
    finger.isLong = true;
    showFinger(finger);
  }, LONG_MS);
  const css = { x: event.clientX, y: event.clientY };
  finger = { id: event.pointerId, from, to: from, css, began: performance.now(), moved: 0, isLong: false, timer };
  showFinger(finger);
}

function move(event) {
  if (!finger) {
    showHovered(model.mode !== "touch" && model.size.width ? elementAt(place(event)) : null);
    return;
  }
  if (event.pointerId !== finger.id) return;
  const far = Math.hypot(event.clientX - finger.css.x, event.clientY - finger.css.y);
  if (finger.from === finger.to && far < STILL) return;
  finger.moved ||= performance.now();
  finger.to = place(event);
  showFinger(finger);
}

function up(event) {
  if (event.pointerId !== finger?.id) return;
  const { from, to, began, moved, isLong, timer } = finger;
  end(timer);
  const now = performance.now();
  showTouch(from, to);
  if (from === to) {
    act({ touch: isLong ? { long_press: { at: from, duration_ms: Math.round(now - began) } } : { tap: { at: from } } });
  } else {
    // After a long press it is a drag, whose time begins with the movement.
    const gesture = { from, to, duration_ms: Math.max(50, Math.round(now - (isLong ? moved : began))) };
    act({ touch: isLong ? { drag: gesture } : { swipe: gesture } });
  }
}

function end(timer) {
  clearTimeout(timer);
  finger = null;
  showFinger(null);
}

/** Wheel movements are collected; one swipe at a time is on its way. */
let wheel = null;
let isScrolling = false;

function turn(event) {
  if (model.mode !== "touch" || !mayAct() || !model.size.width || event.ctrlKey) return;
  event.preventDefault();
  const box = stage.getBoundingClientRect();
  const unit = (event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? box.height : 1) * (model.size.width / box.width);
  wheel ??= { at: place(event), x: 0, y: 0 };
  wheel.x += event.deltaX * unit;
  wheel.y += event.deltaY * unit;
  if (!isScrolling) scroll();
}

async function scroll() {
  isScrolling = true;
  await new Promise((resolve) => setTimeout(resolve, WHEEL_PAUSE_MS));
  while (wheel) {
    const { at, x, y } = wheel;
    wheel = null;
    const { width, height } = model.size;
    const isFlat = Math.abs(x) > Math.abs(y);
    // A finger that starts near an edge is a gesture of the system.
    const between = (value, size) => Math.round(Math.max(size * 0.12, Math.min(size * 0.88, value)));
    const [dx, dy] = isFlat ? [-x, 0] : [0, -y];
    const from = { x: between(isFlat ? at.x - dx / 2 : at.x, width), y: between(isFlat ? at.y : at.y - dy / 2, height) };
    const to = { x: between(from.x + dx, width), y: between(from.y + dy, height) };
    if (Math.hypot(to.x - from.x, to.y - from.y) < 10) break;
    showTouch(from, to);
    await act({ touch: { swipe: { from, to, duration_ms: 120 } } });
  }
  isScrolling = false;
}

export function start() {
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", (event) => event.pointerId === finger?.id && end(finger.timer));
  stage.addEventListener("pointerleave", () => finger || showHovered(null));
  stage.addEventListener("contextmenu", (event) => event.preventDefault());
  stage.addEventListener("wheel", turn, { passive: false });
}
