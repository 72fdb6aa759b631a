// The page of `thumbwire studio`: starts its parts, and holds tabs, theme and shortcuts.

import * as activity from "./activity.js";
import { takeToken } from "./api.js";
import { byId, kept } from "./dom.js";
import * as elements from "./elements.js";
import * as inspect from "./inspect.js";
import * as keyboard from "./keyboard.js";
import { mayAct, model, on, setMode } from "./model.js";
import * as overlay from "./overlay.js";
import * as phones from "./phones.js";
import * as questions from "./questions.js";
import * as record from "./record.js";
import * as runs from "./runs.js";
import * as screen from "./screen.js";
import * as touch from "./touch.js";

const root = document.documentElement;
const tabs = [...document.querySelectorAll("[role=tab]")];
const help = byId("help");

/** @param {string} name of a tab */
function showTab(name, isChosen = false) {
  for (const tab of tabs) {
    const is = tab.id === "tab-" + name;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !is;
    if (is && isChosen) tab.focus({ preventScroll: true });
  }
  kept.set("tab", name);
  if (name === "runs") runs.shown();
  if (name !== "record" && model.mode === "check") setMode("touch");
}
const nameOf = (tab) => tab.id.slice("tab-".length);

function moveTab(event) {
  const at = tabs.indexOf(event.target);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  showTab(nameOf(tabs[(to + tabs.length) % tabs.length]), true);
}

function turnTheme() {
  const isDark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.theme = isDark ? "light" : "dark";
  kept.set("theme", root.dataset.theme);
  overlay.redraw();
}

const shortcuts = {
  i: () => setMode(model.mode === "inspect" ? "touch" : "inspect"),
  d: turnTheme,
  "?": () => help.showModal(),
  ...Object.fromEntries(tabs.map((tab, i) => [String(i + 1), () => showTab(nameOf(tab), true)])),
};

function shortcut(event) {
  const isTyping = event.target.closest("input:not([type=checkbox]), textarea, [role=listbox]") && event.target.id !== "keyboard";
  const isOpen = help.open || !byId("opened").hidden;
  if (isTyping || isOpen || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(shortcuts, event.key)) return;
  event.preventDefault();
  shortcuts[event.key]();
}

function lock() {
  byId("studio").hidden = true;
  byId("locked").hidden = false;
  byId("connection").textContent = "not connected";
}

if (kept.get("theme")) root.dataset.theme = kept.get("theme");
takeToken(lock);
for (const tab of tabs) tab.addEventListener("click", () => showTab(nameOf(tab)));
document.querySelector("[role=tablist]").addEventListener("keydown", moveTab);
document.addEventListener("keydown", shortcut);
byId("theme").addEventListener("click", turnTheme);
byId("ask").addEventListener("click", () => help.showModal());
on("tab", (name) => showTab(name));
on("state", () => {
  byId("tab-record").hidden = !mayAct();
  if (byId("tab-" + kept.get("tab", "inspect")).hidden) showTab("inspect");
});
// Another printed address of this page, opened in the same tab.
addEventListener("hashchange", () => location.hash.includes("token=") && location.reload());

for (const part of [overlay, screen, touch, keyboard, elements, inspect, record, questions, runs, phones, activity]) part.start();
showTab(kept.get("tab", "inspect"));
