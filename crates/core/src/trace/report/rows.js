"use strict";
(() => {
  const root = document.documentElement;
  const help = document.getElementById("help");
  const all = document.getElementById("all");
  const steps = [...document.querySelectorAll("details.case, details.step")];
  const cases = [...document.querySelectorAll("details.case")];
  const filters = [...document.querySelectorAll("button[data-show]")];
  root.classList.add("scripted");

  // The step that failed, not those around it.
  const failures = () => [...document.querySelectorAll("details.step.failed")]
    .filter((step) => !step.querySelector("details.step.failed") && !step.closest("details.attempt:not([open]), .hiding"));

  function reveal(target) {
    for (let around = target; around; around = around.parentElement?.closest("details")) around.open = true;
  }

  function goTo(target) {
    reveal(target);
    const summary = target.querySelector("summary");
    summary.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  }

  let last = -1;
  function nextFailure() {
    const there = failures();
    if (there.length === 0) return;
    last = (last + 1) % there.length;
    goTo(there[last]);
  }

  function openAll() {
    const open = steps.some((step) => !step.open);
    for (const step of steps) step.open = open;
    all.textContent = open ? "Close all" : "Open all";
  }

  function turnTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  }

  for (const filter of filters) {
    filter.addEventListener("click", () => {
      for (const one of filters) one.setAttribute("aria-pressed", String(one === filter));
      const wanted = filter.dataset.show;
      for (const one of cases) one.classList.toggle("hiding", wanted !== "all" && !one.classList.contains(wanted));
      last = -1;
    });
  }

  const keys = {
    f: nextFailure,
    e: openAll,
    d: turnTheme,
    "?": () => (help.open ? help.close() : help.showModal()),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    if (help.open && event.key !== "?") return;
    event.preventDefault();
    keys[event.key]();
  });
  all.addEventListener("click", openAll);
  document.getElementById("theme").addEventListener("click", turnTheme);
  document.getElementById("ask").addEventListener("click", keys["?"]);

  // On paper everything is open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")].filter((one) => !one.matches(".look"));
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });

  function fromAddress() {
    const target = /^#r?[\w-]+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (target && target.matches("details")) return goTo(target);
    // A long case may end below the window.
    const [first] = failures();
    if (first && first.getBoundingClientRect().top > innerHeight * 0.6) first.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
