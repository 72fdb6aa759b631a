// The elements of the last look as a list: filter, arrow keys, the same choice as on the picture.

import { byId, el, foreign } from "./dom.js";
import { model, on, select } from "./model.js";
import { showHovered } from "./overlay.js";

const list = byId("elements");
const filter = byId("elements-filter");

/** The last part of a class name. */
export const shortClass = (name) => name.slice(name.lastIndexOf(".") + 1);
const shortId = (id) => id.slice(id.lastIndexOf("/") + 1);

function depths(elements) {
  const found = new Map();
  for (const { index, parent } of elements) found.set(index, parent === null ? 0 : (found.get(parent) ?? -1) + 1);
  return found;
}

function option(element, depth) {
  const { index, ref, name, id, visible } = element;
  const kind = shortClass(element.class);
  const attributes = { role: "option", id: "element-" + index, class: visible ? "" : "hidden", "data-index": index };
  const item = el("li", { ...attributes, "aria-selected": "false" },
    ref ? foreign(ref, { class: "ref" }) : null,
    foreign(kind, { class: "kind" }),
    name && name !== kind ? foreign(name, { class: "name" }) : null,
    id ? foreign(shortId(id), { class: "id" }) : null,
    visible ? null : el("span", { class: "quiet" }, "hidden"));
  item.style.setProperty("--depth", String(Math.min(depth, 14)));
  return item;
}

function fill() {
  const elements = model.look?.elements ?? [];
  const words = filter.value.trim().toLowerCase();
  const depth = depths(elements);
  const textOf = (one) => [one.name, one.id, one.class, one.ref, one.description].join("\n").toLowerCase();
  const matching = elements.filter((one) => textOf(one).includes(words));
  list.replaceChildren(...matching.map((one) => option(one, words ? 0 : depth.get(one.index))));
  if (matching.length === 0) {
    const text = !model.look ? "Press Look to read the screen." : words ? "No element matches." : "The screen has no elements.";
    list.append(el("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "quiet none" }, text));
  }
  mark();
}

function mark() {
  let chosen = null;
  for (const one of list.children) {
    const is = one.dataset.index !== undefined && Number(one.dataset.index) === model.selected;
    one.setAttribute("aria-selected", String(is));
    if (is) chosen = one;
  }
  if (chosen) {
    list.setAttribute("aria-activedescendant", chosen.id);
    // Scrolls the list only, not the page.
    const top = chosen.offsetTop - list.offsetTop;
    if (top < list.scrollTop) list.scrollTop = top - 8;
    const below = top + chosen.offsetHeight - list.clientHeight;
    if (below > list.scrollTop) list.scrollTop = below + 8;
  } else {
    list.removeAttribute("aria-activedescendant");
  }
}

function move(event) {
  const options = [...list.querySelectorAll("[data-index]")];
  const at = options.findIndex((one) => one.getAttribute("aria-selected") === "true");
  const to = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: options.length - 1 }[event.key];
  if (to === undefined || options.length === 0) return;
  event.preventDefault();
  select(Number(options[Math.min(to, options.length - 1)].dataset.index));
}

const elementOf = (event) => {
  const index = event.target.closest("[data-index]")?.dataset.index;
  return index === undefined ? null : model.look?.elements.find((one) => one.index === Number(index)) ?? null;
};

export function start() {
  filter.addEventListener("input", fill);
  list.addEventListener("keydown", move);
  list.addEventListener("click", (event) => elementOf(event) && select(elementOf(event).index));
  list.addEventListener("pointermove", (event) => showHovered(elementOf(event)));
  list.addEventListener("pointerleave", () => showHovered(null));
  on("look", fill);
  on("selected", mark);
  fill();
}
