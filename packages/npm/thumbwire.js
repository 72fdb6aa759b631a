#!/usr/bin/env node
// Runs the program of this platform, which npm installed as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "thumbwire.exe" : "thumbwire";
let program;
try {
  program = require.resolve(`@thumbwire/${platform}/${name}`);
} catch {
  console.error(
    `thumbwire: @thumbwire/${platform} is not installed. Either there is no program for ${platform}, or npm was told to ` +
      "leave out optional dependencies: install again without --omit=optional."
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A client that ends this process means the program.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`thumbwire: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of signals) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});
