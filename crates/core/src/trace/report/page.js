"use strict";
(() => {
  const root = document.documentElement;
  const moments = [...document.querySelectorAll(".moment")];
  const links = [...document.querySelectorAll(".timeline a")];
  const help = document.getElementById("help");
  const views = ["both", "clean", "marked"];
  let at = 0;
  let view = 0;
  root.classList.add("scripted");

  function show(next, move) {
    if (moments.length === 0) return;
    at = Math.max(0, Math.min(moments.length - 1, next));
    moments.forEach((moment, i) => moment.classList.toggle("on", i === at));
    links.forEach((link, i) => (i === at ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    links[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    if (move) {
      history.replaceState(null, "", "#m" + (at + 1));
      moments[at].focus({ preventScroll: true });
      // After scrolling down, start the next entry at its top.
      if (moments[at].getBoundingClientRect().top < 0) moments[at].scrollIntoView({ block: "start" });
    }
  }

  function fromAddress() {
    const named = /^#m(\d+)$/.exec(location.hash);
    // A run that failed opens where it failed.
    const failure = Number(document.body.dataset.open || 1);
    show(named ? Number(named[1]) - 1 : failure - 1, false);
  }

  function turnPictures() {
    view = (view + 1) % views.length;
    for (const name of views) root.classList.toggle("pictures-" + name, name === views[view]);
  }

  function turnTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  }

  function fold(selector) {
    const all = [...document.querySelectorAll(selector)];
    const open = !moments[at].querySelector(selector.replace(".moment ", ""))?.open;
    for (const one of all) one.open = open;
  }

  const keys = {
    ArrowRight: () => show(at + 1, true),
    j: () => show(at + 1, true),
    ArrowLeft: () => show(at - 1, true),
    k: () => show(at - 1, true),
    Home: () => show(0, true),
    End: () => show(moments.length - 1, true),
    a: turnPictures,
    t: () => fold(".moment details.look"),
    p: () => fold(".moment details.prompt"),
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

  document.getElementById("both").addEventListener("click", turnPictures);
  document.getElementById("theme").addEventListener("click", turnTheme);
  document.getElementById("ask").addEventListener("click", keys["?"]);
  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
