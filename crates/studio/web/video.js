// H.264 pictures by the browser's decoder.

/** Constrained Baseline: what every decoder for H.264 knows. */
const COMMON = "avc1.42E01E";
/** A decoder that is this far behind will not catch up. */
const MAX_QUEUE = 30;

/** Whether this browser decodes H.264. */
export async function canDecode() {
  if (!("VideoDecoder" in window)) return false;
  const answer = await VideoDecoder.isConfigSupported({ codec: COMMON, optimizeForLatency: true }).catch(() => null);
  return answer?.supported === true;
}

/** The part of a video that shows a screen of this shape: the phone centers it, with black around it. */
export function content(video, screen) {
  const scale = Math.min(video.width / screen.width, video.height / screen.height);
  const [width, height] = [Math.round(screen.width * scale), Math.round(screen.height * scale)];
  return [Math.round((video.width - width) / 2), Math.round((video.height - height) / 2), width, height];
}

/**
 * Decodes one stream. `draw` gets each picture, which it closes, with its header and the time when it arrived; `fail` the
 * reason why there are no more.
 */
export class Decoder {
  #decoder = null;
  #config = "";
  /** By time stamp: what came with the pictures that are being decoded. */
  #waiting = new Map();

  constructor(draw, fail) {
    this.draw = draw;
    this.fail = fail;
  }

  decode(header, bytes) {
    const { number, key, width, height } = header;
    try {
      if (key && this.#config !== `${key} ${width}x${height}`) this.#configure(key, `${key} ${width}x${height}`);
      if (this.#decoder.decodeQueueSize > MAX_QUEUE) throw new Error("the browser is too slow");
      this.#waiting.set(number, { header, arrived: performance.now() });
      this.#decoder.decode(new EncodedVideoChunk({ type: key ? "key" : "delta", timestamp: number, data: bytes }));
    } catch (error) {
      this.fail(error.message);
    }
  }

  close() {
    if (this.#decoder && this.#decoder.state !== "closed") this.#decoder.close();
    this.#waiting.clear();
  }

  #configure(codec, config) {
    this.close();
    this.#config = config;
    this.#decoder = new VideoDecoder({
      output: (picture) => {
        const { header, arrived } = this.#waiting.get(picture.timestamp) ?? {};
        this.#waiting.delete(picture.timestamp);
        if (header) this.draw(picture, header, arrived);
        else picture.close();
      },
      error: (error) => this.fail(error.message),
    });
    // Without a description the pictures have start codes.
    this.#decoder.configure({ codec, optimizeForLatency: true });
  }
}
