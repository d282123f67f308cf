// Writes src/engine/learning/adamw-module.ts from adamw.wat; with --check, fails if it is not up to date.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import loadWabt from "wabt";
import { writeGenerated } from "./generated-file.ts";

const folder = join(import.meta.dirname, "..", "src", "engine", "learning");

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
await writeGenerated("src/engine/learning/adamw-module.ts", wanted, "generate-wasm.ts");
