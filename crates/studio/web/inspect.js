// The Inspect tab: look, the chosen element with its attributes and every way to address it, a
// selector to try, and the screen as text, XML and marked picture.

import { getBlob, getText, post, withQuery } from "./api.js";
import { attempt, button, byId, copy, el, foreign, more } from "./dom.js";
import { act, emit, look, mayAct, model, on, select, selected, setMode } from "./model.js";
import { showMatches } from "./overlay.js";
import { shortClass } from "./elements.js";

const details = byId("details");
const tried = byId("tried");

/** Says how the list and the picture stand to one another. */
function showAge() {
  const { look: seen, stale } = model;
  byId("looked").replaceChildren(foreign(!seen ? "" : stale ? "The screen has changed since this look."
    : `${seen.elements.length} elements · ${seen.app}`));
  byId("looked").classList.toggle("changed", Boolean(model.look && model.stale));
}

// The chosen element.

function row(name, value) {
  if (value === "" || value === null || value === undefined) return null;
  return el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value instanceof Node ? value : foreign(value)));
}

function showDetails() {
  const element = selected();
  if (!element) return details.replaceChildren();
  const [left, top, right, bottom] = element.bounds;
  const title = el("h3", { class: "chosen" }, foreign(element.name || shortClass(element.class)));
  const at = { x: Math.floor((left + right) / 2), y: Math.floor((top + bottom) / 2) };
  const tap = () => act({ touch: { tap: { at } } });
  const parent = model.look.elements.find((one) => one.index === element.parent);
  const flags = el("span", { class: "flags" }, element.flags.map((flag) => el("span", { class: "flag" }, flag)));
  const isRecorded = model.state.recordings.includes(model.device);
  details.replaceChildren(
    el("div", { class: "row" }, title,
      mayAct() && element.visible ? button("Tap it", tap) : null,
      isRecorded ? button("Check it", () => emit("checked", element), { title: "Adds a check to the recording" }) : null,
      parent ? button("Parent", () => select(parent.index)) : null,
      button("×", () => select(null), { "aria-label": "Choose no element" })),
    el("ol", { class: "addresses", "aria-label": "Ways to address this element, the most lasting first" }),
    el("table", { class: "attributes" }, el("tbody", {},
      row("text", element.text), row("description", element.description), row("hint", element.hint), row("id", element.id),
      row("class", element.class), row("package", element.package), row("ref", element.ref), row("number", element.number),
      row("place", `${left}, ${top} to ${right}, ${bottom} (${right - left} x ${bottom - top})`),
      row("state", element.flags.length > 0 ? flags : null), row("visible", element.visible ? null : "no"))));
  showAddresses(element, details.querySelector(".addresses"));
}

async function showAddresses(element, list) {
  const { look: seen, device } = model;
  const answer = await attempt(() => post("addresses", { device, index: element.index }));
  if (!answer || model.look !== seen || selected() !== element) return;
  list.replaceChildren(...answer.addresses.map(({ label, value, matches, lasting, check }) => el("li", {},
    el("span", { class: "label" }, label,
      el("span", { class: matches === 1 ? "count one" : "count" }, matches === 1 ? "1 match" : matches + " matches"),
      el("span", { class: "quiet" }, lasting === "lasting" ? "lasting" : "for " + lasting)),
    el("code", {}, foreign(value)),
    button("Copy", () => copy(value), { "aria-label": `Copy: ${label}` }),
    check ? el("code", { class: "check-step" }, foreign(check)) : null,
    check ? button("Copy", () => copy(check), { "aria-label": "Copy the check" }) : null)));
}

// A selector to try. Its matches stay marked, also after a further look.

let trying = "";

async function trySelector(event) {
  event.preventDefault();
  trying = byId("selector").value.trim();
  if (!trying || !model.device) return clearMatches();
  if (!model.look || model.stale) await look();
  else await match();
}

async function match() {
  const { look: seen, device } = model;
  const answer = await attempt(() => post("match", { device, selector: trying }));
  if (!answer || !trying || seen !== model.look) return;
  showMatches(answer.matches);
  tried.hidden = false;
  tried.classList.toggle("bad", Boolean(answer.error) || answer.matches.length === 0);
  const count = answer.matches.length;
  const text = count === 0 ? "No element matches." : count === 1 ? "One element matches." : `${count} elements match.`;
  tried.replaceChildren(foreign(answer.error ?? text));
  if (count === 1 && model.selected === null) select(answer.matches[0]);
}

function clearMatches() {
  trying = "";
  showMatches([]);
  tried.hidden = true;
}

// The whole screen in other forms. Each is asked for when it is opened.

const pre = (text) => el("pre", { tabindex: "0" }, foreign(text));

const VIEWS = [
  ["What changed since the look before", () => pre(model.look.changed ?? "This is the first look.")],
  ["As a model sees it", () => pre(model.look.outline)],
  ["XML of the platform", async () => pre(await getText(withQuery("xml", { device: model.device })))],
  ["Marked picture", async () => {
    const url = URL.createObjectURL(await getBlob(withQuery("marked", { device: model.device })));
    const picture = el("img", { src: url, alt: "The screen with a number on each element" });
    picture.addEventListener("load", () => URL.revokeObjectURL(url));
    return picture;
  }],
];

async function view(render) {
  const seen = model.look;
  if (!seen) return el("p", { class: "quiet" }, "Press Look first.");
  const content = await attempt(render);
  return seen === model.look ? content : undefined;
}

export function start() {
  byId("look").addEventListener("click", look);
  byId("follow").addEventListener("change", () => (!model.look || model.stale) && look());
  byId("try").addEventListener("submit", trySelector);
  byId("selector").addEventListener("input", () => byId("selector").value === "" && clearMatches());
  byId("views").append(...VIEWS.map(([title, render]) => more(title, () => view(render))));
  on("looking", (is) => byId("look").setAttribute("aria-busy", String(is)));
  on("look", () => {
    if (trying && model.look) match();
    else clearMatches();
    showAge();
    showDetails();
    // Those that are open show the new look.
    for (const box of byId("views").children) box.dispatchEvent(new Event("toggle"));
  });
  on("selected", showDetails);
  on("drawn", showAge);
  on("selected", () => model.selected !== null && model.mode === "inspect" && emit("tab", "inspect"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && model.mode !== "touch" && !event.defaultPrevented) setMode("touch");
  });
}
