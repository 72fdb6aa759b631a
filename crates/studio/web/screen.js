// The live picture of the shown phone, and the line about how live it is. Of JPEGs it reads one,
// draws it, then reads the next: a slow viewer gets fewer pictures, never old ones. Of H.264 each
// picture needs the one before it; where that is too much for phone, browser or network, JPEGs take
// its place until the person chooses again.

import { frames, keepOpen, withQuery } from "./api.js";
import { byId, kept, press } from "./dom.js";
import { act, emit, look, model, on, phone, setMode, mayAct } from "./model.js";
import { redraw } from "./overlay.js";
import { canDecode, content, Decoder } from "./video.js";

const canvas = byId("screen");
const stage = byId("stage");
const placeholder = byId("placeholder");
const figures = byId("figures");

/** Larger pictures are not sharper on this page. */
const MAX_SIDE = 800;
/** Times of the last pictures, for the rate. */
let times = [];
let reading = new AbortController();
/** Why phones send JPEGs although H.264 was chosen. @type {Map<string, string>} */
const refused = new Map();
/** Of the phones that send screenshots only: H.264 is faster. */
const still = new Set();
const codecs = [...document.querySelectorAll("[data-codec]")];
const codecOf = (device) => kept.get("codec") ?? (still.has(device) ? "h264" : "jpeg");

function restart() {
  reading.abort();
  reading = new AbortController();
  const device = model.device;
  times = [];
  figures.textContent = "";
  press(codecs, (one) => one.dataset.codec === codecOf(device));
  stage.classList.remove("on");
  if (!device || document.hidden) return cover(device ? "" : "No phone is shown.");
  if (!phone()?.ready) return cover(phone()?.state ?? "");
  cover("Waiting for the first picture…");
  const { signal } = reading;
  const read = codecOf(device) === "h264" && !refused.has(device) ? readVideo : readPictures;
  keepOpen(signal, (alive) => read(device, signal, alive), (error) => cover(error.message + (error.next ? "\n" + error.next : "")));
}

async function readPictures(device, signal, alive) {
  for await (const { header, picture } of frames(withQuery("screen", { device, max_side: MAX_SIDE }), { signal })) {
    const arrived = performance.now();
    alive();
    if (!picture) {
      cover(header.error);
      continue;
    }
    const bitmap = await createImageBitmap(new Blob([picture]));
    if (signal.aborted) return bitmap.close();
    draw(bitmap, [0, 0, bitmap.width, bitmap.height], header, arrived);
    if (header.streamed === false && !still.has(device)) {
      still.add(device);
      if (codecOf(device) === "h264" && !refused.has(device)) return restart();
    }
  }
}

async function readVideo(device, signal, alive) {
  const refuse = (reason) => {
    if (signal.aborted) return;
    refused.set(device, reason);
    restart();
  };
  if (!(await canDecode())) return refuse("the browser cannot decode it");
  const decoder = new Decoder((picture, header, arrived) => {
    if (signal.aborted) return picture.close();
    draw(picture, content({ width: picture.displayWidth, height: picture.displayHeight }, header), header, arrived);
  }, refuse);
  try {
    for await (const { header, picture } of frames(withQuery("screen", { device, max_side: MAX_SIDE, codec: "h264" }), { signal })) {
      alive();
      if (header.over) return refuse(header.over);
      if (picture) decoder.decode(header, picture);
    }
  } finally {
    decoder.close();
  }
}

/** Draws this part of a picture, and closes it. */
function draw(picture, [left, top, wide, tall], header, arrived) {
  const { width, height } = header;
  if (canvas.width !== wide || canvas.height !== tall) [canvas.width, canvas.height] = [wide, tall];
  canvas.getContext("2d", { alpha: false }).drawImage(picture, left, top, wide, tall, 0, 0, wide, tall);
  picture.close();
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
  canvas.dispatchEvent(new CustomEvent("drawn", { detail: { number: header.number, bytes: header.bytes, codec: header.codec ?? "jpeg" } }));
}

let quiet = 0;
function showFigures(age, { width, height, bytes, streamed, codec }) {
  const how = codec === "h264" ? "H.264" : streamed === false ? "screenshots" : "JPEG";
  const reason = refused.get(model.device);
  const size = `${width}x${height} · ${Math.max(1, Math.round(bytes / 1024))} KB · ${how}${reason ? `, not H.264: ${reason}` : ""}`;
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

  for (const one of codecs) one.addEventListener("click", () => {
    kept.set("codec", one.dataset.codec);
    refused.clear();
    restart();
  });

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
