// The live picture of the shown phone, and the line about how live it is. Reads a picture, draws it,
// then reads the next: a slow viewer gets fewer pictures, never old ones.

import { frames, keepOpen, withQuery } from "./api.js";
import { byId } from "./dom.js";
import { act, emit, look, model, on, phone, setMode, mayAct } from "./model.js";
import { redraw } from "./overlay.js";

const canvas = byId("screen");
const stage = byId("stage");
const placeholder = byId("placeholder");
const figures = byId("figures");

/** Larger pictures are not sharper on this page. */
const MAX_SIDE = 800;
/** Times of the last pictures, for the rate. */
let times = [];
let reading = new AbortController();

function restart() {
  reading.abort();
  reading = new AbortController();
  const device = model.device;
  times = [];
  figures.textContent = "";
  stage.classList.remove("on");
  if (!device || document.hidden) return cover(device ? "" : "No phone is shown.");
  if (!phone()?.ready) return cover(phone()?.state ?? "");
  cover("Waiting for the first picture…");
  const { signal } = reading;
  const path = withQuery("screen", { device, max_side: MAX_SIDE });
  keepOpen(signal, async (alive) => {
    for await (const { header, picture } of frames(path, { signal })) {
      const arrived = performance.now();
      alive();
      if (!picture) {
        cover(header.error);
        continue;
      }
      const bitmap = await createImageBitmap(picture);
      if (signal.aborted) return bitmap.close();
      draw(bitmap, header, arrived);
    }
  }, (error) => cover(error.message + (error.next ? "\n" + error.next : "")));
}

function draw(bitmap, header, arrived) {
  const { width, height } = header;
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
  }
  canvas.getContext("2d", { alpha: false }).drawImage(bitmap, 0, 0);
  bitmap.close();
  if (model.size.width !== width || model.size.height !== height) {
    model.size = { width, height };
    stage.style.setProperty("--ratio", String(width / height));
    redraw();
  }
  const first = !stage.classList.contains("on");
  stage.classList.add("on");
  // A picture that the phone keeps blank, and why.
  cover(header.blank ?? "");
  const now = performance.now();
  times = [...times.filter((time) => now - time < 2000), now];
  const age = Math.round(header.age_ms + now - arrived);
  showFigures(age, header);
  if (!first && model.look) model.stale = true;
  canvas.setAttribute("aria-label", "The phone’s screen" + (header.title ? ": " + header.title : ""));
  emit("drawn", header);
  // For tests and tools that watch the page.
  canvas.dispatchEvent(new CustomEvent("drawn", { detail: { number: header.number } }));
}

let quiet = 0;
function showFigures(age, { width, height, bytes, streamed }) {
  const size = `${width}x${height} · ${Math.max(1, Math.round(bytes / 1024))} KB${streamed === false ? " · by screenshots" : ""}`;
  const rate = times.length < 3 ? "" : `${Math.round(((times.length - 1) * 1000) / (times.at(-1) - times[0]))} pictures/s · `;
  figures.textContent = `${rate}${age} ms · ${size}`;
  clearTimeout(quiet);
  quiet = setTimeout(() => (figures.textContent = `still · ${size}`), 2000);
}

function cover(text) {
  placeholder.textContent = text;
  placeholder.hidden = text === "";
}

/** Looks again when the pictures have come to rest, where somebody wants that. */
const AT_REST_MS = 500;
/** A blinking caret never comes to rest. */
const LONGEST_WAIT_MS = 2000;
let rest = 0;
let unrestSince = 0;
function settle() {
  if (!model.stale || !(byId("follow").checked || model.mode === "check")) return;
  unrestSince ||= performance.now();
  clearTimeout(rest);
  rest = setTimeout(() => {
    unrestSince = 0;
    look();
  }, Math.min(AT_REST_MS, Math.max(0, unrestSince + LONGEST_WAIT_MS - performance.now())));
}

export function start() {
  on("device", restart);
  on("drawn", settle);
  let was = "";
  on("state", () => {
    // A phone that came, went or became ready.
    const is = JSON.stringify([model.device, phone()?.ready, phone()?.ready ? "" : phone()?.state]);
    if (is !== was) restart();
    was = is;
    for (const one of document.querySelectorAll(".acts")) one.hidden = !mayAct();
    byId("key-recents").hidden = phone()?.platform === "ios";
  });
  on("connected", () => placeholder.hidden || restart());
  // Nobody sees a hidden page: its phones are left in peace.
  document.addEventListener("visibilitychange", restart);

  const keys = { "key-back": "back", "key-home": "home", "key-recents": "KEYCODE_APP_SWITCH" };
  for (const [id, key] of Object.entries(keys)) byId(id).addEventListener("click", () => act({ press: key }));
  byId("rotate").addEventListener("click", () => {
    const isWide = model.size.width > model.size.height;
    act({ set_orientation: isWide ? "portrait" : "landscape" });
  });
  const modes = [byId("mode-touch"), byId("mode-inspect")];
  modes[0].addEventListener("click", () => setMode("touch"));
  modes[1].addEventListener("click", () => setMode("inspect"));
  on("mode", () => {
    for (const one of modes) one.setAttribute("aria-pressed", String(one.id === "mode-" + model.mode));
    stage.dataset.mode = model.mode;
    if (model.mode !== "touch" && (!model.look || model.stale)) look();
  });
}
