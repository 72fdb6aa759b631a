// What scripts find, as in Maestro's `GraalJsEngine` and `GraalJsHttp`. What the functions need is
// kept here, where no script can replace it.
(function (platform, send, log) {
  "use strict";
  const { parse, stringify } = JSON;
  const { defineProperty, entries, freeze, fromEntries, setPrototypeOf } = Object;
  const text = String;
  const define = (name, value) => {
    defineProperty(globalThis, name, { value, writable: true, enumerable: true });
  };
  const words = (values) => values.map((value) =>
    typeof value === "object" && value !== null ? stringify(value) : text(value)).join(" ");
  const write = (...values) => log(words(values));
  const request = (url, method, params) => {
    const { body, headers, multipartForm } = params ?? {};
    if (multipartForm != null) {
      throw new Error("`multipartForm` is not supported: scripts read no files");
    }
    const answer = parse(send(stringify({
      method: text(method).toUpperCase(),
      url: text(url),
      headers: entries(headers ?? {}).map(([name, value]) => [text(name), text(value)]),
      body: typeof body === "string" ? body : null,
    })));
    if (answer.error !== undefined) {
      throw new Error(`${method} ${url}: ${answer.error}`);
    }
    const { status, body: received, headers: got } = answer.response;
    return { ok: status >= 200 && status < 300, status, body: received, headers: fromEntries(got) };
  };
  const faker = () => {
    throw new Error("`faker` is not supported: use `inputRandomText` and its like");
  };
  define("console", { log: write, info: write, warn: write, error: write, debug: write });
  define("faker", new Proxy({}, { get: faker }));
  define("http", freeze({
    get: (url, params) => request(url, "GET", params),
    post: (url, params) => request(url, "POST", params),
    put: (url, params) => request(url, "PUT", params),
    delete: (url, params) => request(url, "DELETE", params),
    request: (url, params) => request(url, params?.method ?? "GET", params),
  }));
  define("json", (source) => parse(source));
  define("maestro", { platform });
  define("output", {});
  define("relativePoint", (x, y) => `${Math.ceil(x * 100)}%,${Math.ceil(y * 100)}%`);
  // The engine would pass over the locale and the options.
  for (const { prototype } of [Date, Number, BigInt]) {
    for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
      if (name in prototype) {
        prototype[name] = () => {
          throw new Error(`\`${name}\` is not supported: there are no locales; put the text together`);
        };
      }
    }
  }
  // A name that nothing defines is undefined, so that `${NAME || 'default'}` works.
  setPrototypeOf(globalThis, new Proxy(Object.prototype, { has: () => true }));
})
