// The person's keyboard types on the phone while the picture has the focus: a hidden text field
// takes characters, compositions and pastes; other keys are sent as keys.

import { byId, say } from "./dom.js";
import { act, mayAct, model, on, setMode } from "./model.js";

const field = byId("keyboard");
/** Characters that follow one another this fast become one action. */
const COLLECT_MS = 30;

const KEYS = {
  Enter: "KEYCODE_ENTER", Backspace: "KEYCODE_DEL", Delete: "KEYCODE_FORWARD_DEL", Tab: "KEYCODE_TAB", Escape: "back",
  ArrowUp: "KEYCODE_DPAD_UP", ArrowDown: "KEYCODE_DPAD_DOWN", ArrowLeft: "KEYCODE_DPAD_LEFT", ArrowRight: "KEYCODE_DPAD_RIGHT",
  Home: "KEYCODE_MOVE_HOME", End: "KEYCODE_MOVE_END", PageUp: "KEYCODE_PAGE_UP", PageDown: "KEYCODE_PAGE_DOWN",
};

let typed = "";
let timer = 0;
let isComposing = false;

function type(text) {
  typed += text;
  clearTimeout(timer);
  timer = setTimeout(flush, COLLECT_MS);
}

function flush() {
  clearTimeout(timer);
  const text = typed;
  typed = "";
  // A line end is the Enter key: not every field takes it as a character.
  text.split(/(\r\n|\r|\n)/).forEach((part, i) => {
    if (i % 2 === 1) act({ press: KEYS.Enter });
    else if (part) act({ type: { text: part, clear: false, submit: false, blind: true } });
  });
}

function collect() {
  if (isComposing) return;
  const text = field.value;
  field.value = "";
  if (text && model.mode === "touch") type(text);
}

function key(event) {
  if (event.isComposing || isComposing) return;
  if (model.mode !== "touch") {
    if (event.key === "Escape") setMode("touch");
    return;
  }
  event.stopPropagation();
  const code = KEYS[event.key];
  if (!code || !mayAct() || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  flush();
  act({ press: code });
}

async function paste() {
  let text;
  try {
    text = await navigator.clipboard.readText();
  } catch {
    say("The browser does not give this page the clipboard. Click the picture and press Ctrl+V.");
    field.focus({ preventScroll: true });
    return;
  }
  if (text) type(text);
  else say("The clipboard has no text.");
}

export function start() {
  field.addEventListener("keydown", key);
  field.addEventListener("input", collect);
  field.addEventListener("compositionstart", () => (isComposing = true));
  field.addEventListener("compositionend", () => {
    isComposing = false;
    collect();
  });
  field.addEventListener("focus", () => byId("stage").classList.add("focused"));
  field.addEventListener("blur", () => byId("stage").classList.remove("focused"));
  byId("paste").addEventListener("click", paste);
  byId("type").addEventListener("click", () => field.focus({ preventScroll: true }));
  on("acting", flush);
  for (const name of ["mode", "state"]) on(name, () => (field.readOnly = model.mode !== "touch" || !mayAct()));
}
