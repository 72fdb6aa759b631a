// Requests to the server: the key from the address, JSON both ways, endless streams of lines and of
// pictures, and connections that come back.

import { kept } from "./dom.js";

/** Text and advice of an answer that is no success. */
export class ApiError extends Error {
  constructor(message, next, status) {
    super(message);
    this.next = next;
    this.status = status;
  }
}

let onLocked = () => {};

/** Takes the key out of the address, so that it is neither copied nor kept in the history. */
export function takeToken(locked) {
  onLocked = locked;
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (!found) return;
  kept.set("token", decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname + location.search);
}

/**
 * @param {string} path below api/
 * @param {{body?: unknown, signal?: AbortSignal}} [options] with a body it is a POST
 */
async function request(path, { body, signal } = {}) {
  const token = kept.get("token");
  const headers = token ? { Authorization: "Bearer " + token } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    const sent = body === undefined ? { method: "GET" } : { method: "POST", body: JSON.stringify(body) };
    response = await fetch("api/" + path, { ...sent, headers, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const next = "It may have been stopped in its terminal. This page tries again by itself.";
    throw new ApiError("The studio server does not answer.", next, 0);
  }
  if (response.ok) return response;
  if (response.status === 401) onLocked();
  const said = await response.json().catch(() => ({}));
  throw new ApiError(said.error || `The server answered with status ${response.status}.`, said.next, response.status);
}

export const get = async (path, options) => (await request(path, options)).json();
export const getText = async (path) => (await request(path)).text();
export const getBlob = async (path) => (await request(path)).blob();
export const post = async (path, body, options) => (await request(path, { body, ...options })).json();

/** A path with parameters. */
export const withQuery = (path, values) => path + "?" + new URLSearchParams(values);

/** The values of a stream of JSON lines. Empty lines only keep the connection alive. */
export async function* lines(path, options) {
  const response = await request(path, options);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks(response)) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop();
    for (const line of parts) if (line.trim()) yield JSON.parse(line);
  }
  if (rest.trim()) yield JSON.parse(rest);
}

/**
 * The pictures of a phone, read only as fast as the caller asks for them.
 * @typedef {{number: number, bytes: number, error?: string, width: number, height: number, age_ms: number, title?: string,
 *   blank?: string|null, streamed?: boolean, codec?: "h264", key?: string|null, over?: string}} FrameHeader
 * @returns {AsyncGenerator<{header: FrameHeader, picture: Uint8Array|null}>} a JPEG, or units of H.264
 */
export async function* frames(path, options) {
  const source = chunks(await request(path, options));
  let held = new Uint8Array(0);
  const take = async (count) => {
    const parts = [held];
    let have = held.length;
    while (have < count) {
      const { value, done } = await source.next();
      if (done) return null;
      parts.push(value);
      have += value.length;
    }
    const all = parts.length === 1 ? held : new Uint8Array(await new Blob(parts).arrayBuffer());
    held = all.subarray(count);
    return all.subarray(0, count);
  };
  for (;;) {
    const length = await take(4);
    if (!length) return;
    const text = await take(new DataView(length.buffer, length.byteOffset, 4).getUint32(0));
    const header = text && JSON.parse(new TextDecoder().decode(text));
    const bytes = header && (await take(header.bytes));
    if (!bytes) return;
    // Without picture and reason it only says that the connection is alive.
    if (header.bytes > 0 || header.error || header.over) yield { header, picture: header.bytes > 0 ? bytes : null };
  }
}

async function* chunks(response) {
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Left early: ends the connection, so that the server stops sending.
    reader.cancel().catch(() => {});
  }
}

const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Opens a stream again and again until the signal aborts it, with growing pauses while it fails.
 * @param {(alive: () => void) => Promise<void>} open calls alive when something arrives
 * @param {(error: Error, pauseMs: number) => void} onBreak
 */
export async function keepOpen(signal, open, onBreak) {
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    let reason = new ApiError("The server has closed the connection.", undefined, 0);
    try {
      await open(() => (pause = FIRST_PAUSE_MS));
    } catch (error) {
      reason = error;
    }
    if (signal.aborted || reason.status === 401) return;
    onBreak(reason, pause);
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, pause);
      signal.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
    });
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}
