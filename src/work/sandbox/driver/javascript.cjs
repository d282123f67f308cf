// Runs JavaScript that the driver (driver.py) hands on, by file 3, a line of JSON each, and says by file 4 what came of it.
"use strict";
const { closeSync, readSync, writeFileSync, writeSync } = require("node:fs");
const { createRequire } = require("node:module");
const { pathToFileURL } = require("node:url");
const { inspect } = require("node:util");
const vm = require("node:vm");

const keeps = process.argv[1] === "keep";
let count = 0;
globalThis.require = createRequire(`${process.cwd()}/program.js`);
if (keeps) next();
else run(JSON.parse(line())).then((answer) => say(answer));

async function next() {
  setInterval(() => {}, 2 ** 30); // it goes on while a program's promise is open
  for (;;) {
    say(await run(JSON.parse(line())));
  }
}

/** The next request; the driver is gone if there is none. */
function line() {
  const chunks = [];
  const buffer = Buffer.alloc(65536);
  for (;;) {
    const size = readSync(3, buffer);
    if (size === 0) process.exit(0);
    chunks.push(Buffer.from(buffer.subarray(0, size)));
    if (buffer[size - 1] === 10) return Buffer.concat(chunks).toString();
  }
}

async function run({ code, output }) {
  count += 1;
  const answer = { code: 0, error: null, errno: null, value: null };
  try {
    const value = await evaluate(code, count === 1 ? "program.js" : `program-${count}.js`);
    if (value !== undefined) answer.value = inspect(value).slice(0, output);
  } catch (error) {
    answer.code = 1;
    answer.error = String(error?.code ?? error?.name ?? "Error");
    answer.errno = typeof error?.errno === "number" ? -error.errno : null;
    if (!keeps) process.exitCode = 1;
    tell(error);
  }
  return answer;
}

async function evaluate(code, filename) {
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  let script;
  try {
    script = new vm.Script(code, { filename, importModuleDynamically });
  } catch (error) {
    if (!(error instanceof SyntaxError) || !/^\s*(import|export)\b|\bawait\b/m.test(code)) throw error;
    // What only a module may say.
    const file = `/tmp/${filename.replace(".js", ".mjs")}`;
    writeFileSync(file, code);
    await import(pathToFileURL(file).href);
    return undefined;
  }
  return script.runInThisContext({ breakOnSigint: keeps });
}

/** Prints an error with the frames of the program alone. */
function tell(error) {
  const text = error instanceof Error ? (error.stack ?? String(error)) : `Uncaught ${inspect(error)}`;
  const own = text.split("\n").filter((frame) => !/^\s+at .*(node:|\[eval\]|evalmachine)/.test(frame));
  writeSync(2, `${own.join("\n")}\n`);
}

function say(answer) {
  writeSync(4, `${JSON.stringify(answer)}\n`);
  if (!keeps) closeSync(4);
}
