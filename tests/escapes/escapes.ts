// npm run escapes [sandbox …]: every program of the suite, in every sandbox that this machine has; one that the sandbox lacks the language for is
// left out, and counted. Ends with 1 if one did not hold.
import { parseArgs } from "node:util";
import { openSandbox, type Sandbox } from "everturn/sandbox";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { sandboxWish } from "../support/sandbox-wish.ts";
import { attempt } from "./attempt.ts";
import { escapes } from "./programs.ts";
import { surround } from "./surroundings.ts";

const { positionals } = parseArgs({ allowPositionals: true });
let found = 0;
for (const kind of positionals.length > 0 ? positionals : ["bubblewrap", "wasm"]) {
  const sandbox = await openSandbox(sandboxWish(kind), { modules: import.meta.url }).catch((error: unknown) =>
    messageOf(error),
  );
  if (typeof sandbox === "string") {
    process.stdout.write(`${kind}: ${sandbox}\n`);
    continue;
  }
  found++;
  await tryAll(sandbox);
  await sandbox.close();
}
if (found === 0) process.exitCode = 1;

async function tryAll(sandbox: Sandbox): Promise<void> {
  const watched = await surround(sandbox);
  const began = performance.now();
  let held = 0;
  const suited = escapes.filter(
    ({ language = "python", meansNothingInWasm }) =>
      sandbox.languages.includes(language) && (sandbox.kind !== "wasm" || meansNothingInWasm === undefined),
  );
  for (const program of suited) {
    const problems = await attempt(sandbox, program, watched.around).catch((error: unknown) => [
      `it threw: ${messageOf(error)}`,
    ]);
    if (problems.length === 0) held++;
    else
      process.stdout.write(
        `✗ ${sandbox.kind}: ${program.name}\n${problems.map((problem) => `    ${problem}\n`).join("")}`,
      );
  }
  const harm = await watched.harm();
  for (const one of harm) process.stdout.write(`✗ ${sandbox.kind}: ${one}\n`);
  await watched.close();
  if (held < suited.length || harm.length > 0) process.exitCode = 1;
  const seconds = Math.round((performance.now() - began) / 1000);
  const left = escapes.length - suited.length;
  process.stdout.write(
    `${sandbox.kind}: ${held} of ${suited.length} programs held (${left} are of languages that it does not run, or mean nothing there), in ${seconds} s\n`,
  );
}
