// Builds elements, shows text of others safely, keeps what a reload must not lose, and says things
// in the status line. Nothing here or elsewhere parses text as HTML.

/** @param {string} id */
export const byId = (id) => document.getElementById(id);

/**
 * An element. Functions named on… become listeners, true and false switch attributes.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node|string|null|undefined|Array)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** @param {string} label @param {() => unknown} onclick @param {Record<string, unknown>} [attributes] */
export const button = (label, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, label);

// Characters that are not seen, or turn the text around them. A joiner inside an emoji is a part
// of it, and line ends and tabs are what they are.
const UNSEEN = /(?![\n\t])(?!\u200d\p{Extended_Pictographic})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u2800\u3164\uffa0]/gu;

/** Foreign text: its direction stays inside, and unseen characters are shown. */
export function foreign(text, attributes = {}) {
  const bdi = el("bdi", attributes);
  const string = String(text ?? "");
  let from = 0;
  for (const found of string.matchAll(UNSEEN)) {
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    bdi.append(string.slice(from, found.index), el("span", { class: "unseen-sign" }, "U+" + code));
    from = found.index + found[0].length;
  }
  bdi.append(string.slice(from));
  return bdi;
}

/** Values that survive a reload of this tab. */
export const kept = {
  get(name, otherwise = null) {
    const value = sessionStorage.getItem("studio." + name);
    return value === null ? otherwise : JSON.parse(value);
  },
  set(name, value) {
    if (value === null || value === undefined) sessionStorage.removeItem("studio." + name);
    else sessionStorage.setItem("studio." + name, JSON.stringify(value));
  },
};

/** A part that is made when it is opened. @param {() => Node|Promise<Node|undefined>} make */
export function more(title, make) {
  const body = el("div");
  const box = el("details", {}, el("summary", {}, title), body);
  box.addEventListener("toggle", async () => {
    const content = box.open && (await make());
    if (content) body.replaceChildren(content);
  });
  return box;
}

/** Sets attributes of toggles in one group: the pressed one has this value. */
export function press(buttons, isPressed) {
  for (const one of buttons) one.setAttribute("aria-pressed", String(isPressed(one)));
}

/**
 * Says something in the corner, and to screen readers. Errors stay longer.
 * @param {string|Error & {next?: string}} what
 */
export function say(what) {
  if (what instanceof DOMException && what.name === "AbortError") return;
  const bad = what instanceof Error;
  const text = bad ? what.message : what;
  const box = byId("messages");
  for (const one of box.children) if (one.dataset.text === text) one.remove();
  const message = el("div", { class: bad ? "message bad" : "message", "data-text": text },
    el("div", {}, foreign(text), bad && what.next ? foreign(what.next, { class: "next" }) : null),
    button("×", () => message.remove(), { "aria-label": "Close this message" }));
  box.append(message);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => message.remove(), bad ? 12_000 : 4_000);
}

/** Runs it and says what went wrong. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    say(error);
    return undefined;
  }
}

/** @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say(new Error("The browser does not let this page write to the clipboard."));
  }
}

/** A press that could lose something asks for a second one. */
export function twice(button, question, isNeeded, work) {
  let label = null;
  const disarm = () => {
    if (label !== null) button.textContent = label;
    label = null;
  };
  button.addEventListener("blur", disarm);
  button.addEventListener("click", () => {
    const isSure = label !== null || !isNeeded();
    disarm();
    if (isSure) return work();
    label = button.textContent;
    button.textContent = question;
  });
}

/** Saves text as a file of the person's. */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** "40 ms", "1.4 s", "3 min 5 s" */
export function duration(ms) {
  if (ms < 1000) return Math.round(ms) + " ms";
  if (ms < 60_000) return (ms / 1000).toFixed(1) + " s";
  return Math.floor(ms / 60_000) + " min " + Math.round((ms % 60_000) / 1000) + " s";
}

/** Calls it once, this long after the last call. */
export function debounce(ms, work) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(work, ms, ...values);
  };
}
