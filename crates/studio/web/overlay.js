// Drawings over the picture: where the finger was, the ring of a long press, outlines of elements.

import { byId } from "./dom.js";
import { model, on, selected } from "./model.js";

const canvas = byId("overlay");
const stage = byId("stage");
/** What is chosen and what matches is shown beside what is said of it. */
const inspect = byId("panel-inspect");
const FADE_MS = 600;

/** Fading dots and lines: {from, to, at}, in the phone's coordinates. */
let marks = [];
/** The finger that is down: {from, to, isLong}. */
let finger = null;
/** @type {import("./model.js").Element|null} The element under the pointer, or chosen in a list. */
let hovered = null;
/** Indexes of the elements that a tried selector matches. */
let matches = [];

/** Shows a touch at once, before the picture follows. */
export function showTouch(from, to = from) {
  marks.push({ from, to, at: performance.now() });
  redraw();
}
export function showFinger(next) {
  finger = next;
  redraw();
}
export function showHovered(element) {
  if (element === hovered) return;
  hovered = element;
  redraw();
}
export function showMatches(indexes) {
  matches = indexes;
  redraw();
}

let planned = 0;
export function redraw() {
  planned ||= requestAnimationFrame(paint);
}

function paint(now) {
  planned = 0;
  const box = stage.getBoundingClientRect();
  const density = devicePixelRatio || 1;
  const [width, height] = [Math.round(box.width * density), Math.round(box.height * density)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  if (!model.size.width) return;
  context.setTransform(density, 0, 0, density, 0, 0);
  const scale = box.width / model.size.width;
  const colors = getComputedStyle(stage);
  const color = (name) => colors.getPropertyValue(name).trim();

  const outline = (element, stroke, filled) => {
    const [left, top, right, bottom] = element.bounds.map((value) => value * scale);
    context.strokeStyle = stroke;
    context.fillStyle = stroke;
    context.globalAlpha = filled ? 0.16 : 0;
    context.fillRect(left, top, right - left, bottom - top);
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.strokeRect(left + 1, top + 1, Math.max(0, right - left - 2), Math.max(0, bottom - top - 2));
  };
  // Outlines of an older screen may be wrong: they are dashed, and gone while one touches.
  if (model.look && !(model.stale && model.mode === "touch")) {
    context.setLineDash(model.stale ? [4, 4] : []);
    const shown = inspect.hidden ? [] : model.look.elements.filter(({ index }) => matches.includes(index));
    for (const element of shown) outline(element, color("--mark-match"), true);
    const chosen = inspect.hidden ? null : selected();
    if (chosen) outline(chosen, color("--touch"), true);
    if (hovered && hovered !== chosen) outline(hovered, color("--mark-hover"), model.mode !== "touch");
    context.setLineDash([]);
  }

  const dot = ({ x, y }, alpha, radius = 13) => {
    context.globalAlpha = alpha;
    context.beginPath();
    context.arc(x * scale, y * scale, radius, 0, 2 * Math.PI);
    context.fill();
  };
  const path = (from, to, alpha) => {
    context.globalAlpha = alpha;
    context.lineWidth = 6;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(from.x * scale, from.y * scale);
    context.lineTo(to.x * scale, to.y * scale);
    context.stroke();
  };
  context.fillStyle = context.strokeStyle = color("--touch");
  marks = marks.filter((mark) => now - mark.at < FADE_MS);
  for (const { from, to, at } of marks) {
    const alpha = 0.6 * (1 - (now - at) / FADE_MS);
    if (from !== to) path(from, to, alpha / 2);
    dot(to, Math.max(0, alpha));
  }
  if (finger) {
    if (finger.from !== finger.to) path(finger.from, finger.to, 0.3);
    dot(finger.to, 0.5);
    if (finger.isLong) {
      context.globalAlpha = 0.9;
      context.lineWidth = 3;
      context.beginPath();
      context.arc(finger.from.x * scale, finger.from.y * scale, 24, 0, 2 * Math.PI);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
  if (marks.length > 0) redraw();
}

export function start() {
  new ResizeObserver(redraw).observe(stage);
  new MutationObserver(redraw).observe(inspect, { attributes: true, attributeFilter: ["hidden"] });
  for (const name of ["look", "selected", "mode"]) on(name, redraw);
  let wasStale = false;
  on("drawn", () => {
    if (model.stale && !wasStale) redraw();
    wasStale = model.stale;
  });
  on("device", () => {
    [marks, finger, hovered, matches] = [[], null, null, []];
    redraw();
  });
}
