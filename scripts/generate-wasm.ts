// Writes src/engine/learning/adamw-module.ts from adamw.wat; with --check, fails if it is not up to date.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import loadWabt from "wabt";

const folder = join(import.meta.dirname, "..", "src", "engine", "learning");
const target = join(folder, "adamw-module.ts");

const wabt = await loadWabt();
const source = await readFile(join(folder, "adamw.wat"), "utf8");
const { buffer } = wabt.parseWat("adamw.wat", source, { simd: true, threads: true }).toBinary({});
const lines = Buffer.from(buffer)
  .toString("base64")
  .match(/.{1,100}/g);
const wanted = `// Written from adamw.wat by \`node scripts/generate-wasm.ts\`.

/** The WebAssembly module of AdamW's inner loops, in base64. */
export const adamWModule = [
${lines?.map((line) => `  "${line}",`).join("\n")}
].join("");
`;
const present = await readFile(target, "utf8").catch(() => "");
if (present !== wanted && process.argv.includes("--check")) {
  console.error(
    "adamw-module.ts is not up to date: run `node scripts/generate-wasm.ts` and commit what it writes.",
  );
  process.exitCode = 1;
} else if (present !== wanted) {
  await writeFile(target, wanted);
  console.log("written: src/engine/learning/adamw-module.ts");
}
