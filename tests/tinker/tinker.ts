// npm run tinker -- [--only losses|kills …] [--case NAME …] [--kills N] [--port N] [--json]: `trainer-tinker` on SkyRL's published
// server, which the first run installs into the user's cache (6.3 GB).
//   losses: each loss and its gradient against trainer-onnx. --case takes single ones.
//   kills: runs whose processes and whose server are killed and stopped N times (default 50), against a run left alone.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { killRuns } from "./kills.ts";
import { lossCases } from "./loss-cases.ts";
import { compareLosses, type LossDifference } from "./losses.ts";
import { type Family, writeServedModel } from "./served-model.ts";
import { startSkyrl } from "./skyrl.ts";

/** The largest difference of a number, relative to the number, that float32 explains. */
const tolerance = 1e-4;

const parts = ["losses", "kills"];
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: parts },
    case: { type: "string", multiple: true, default: lossCases.map(({ name }) => name) },
    kills: { type: "string", default: "50" },
    port: { type: "string", default: "0" },
    json: { type: "boolean", default: false },
  },
});
const unknown = values.only.filter((name) => !parts.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(", ")}. There are ${parts.join(" and ")}.\n`);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const out = values.json ? process.stderr : process.stdout;
const note = (text: string) => void out.write(`${text}\n`);
const work = mkdtempSync(join(tmpdir(), "everturn-tinker-"));
note(`working in ${work}`);
const port = await freePort(Number(values.port));

const losses: Record<string, LossDifference> = values.only.includes("losses")
  ? { ...(await lossesOf("llama")), ...(await lossesOf("qwen3")) }
  : {};
const kills = values.only.includes("kills") ? await killPart() : undefined;
const largestDifference = Math.max(0, ...Object.values(losses).flatMap((one) => Object.values(one)));
const { optimizerStepsTwice, optimizerStepsLost, ledger, ...counts } = kills ?? {};
const result = {
  server: "skyrl 0.4.0",
  losses,
  largestDifference,
  kills: counts,
  optimizerStepsTwice,
  optimizerStepsLost,
  ledger,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
const isExact = largestDifference <= tolerance;
const isDurable =
  kills === undefined ||
  (kills.optimizerStepsTwice === 0 &&
    kills.optimizerStepsLost === 0 &&
    kills.unrecovered === 0 &&
    kills.ledger &&
    kills.largestDifference <= kills.repeatability);
if (isExact && isDurable) rmSync(work, { recursive: true, force: true });
else process.exitCode = 1;

async function lossesOf(family: Family) {
  const cases = lossCases.filter(
    (one) => (one.family ?? "llama") === family && values.case.includes(one.name),
  );
  if (cases.length === 0) return {};
  const [folder, initial] = [join(work, family), join(work, family, "model")];
  const vocabulary = await writeServedModel(initial, family);
  const server = await startSkyrl({ folder: join(folder, "server"), model: initial, port });
  try {
    return await compareLosses(cases, { url: server.url, initial, vocabulary, work: folder, note });
  } finally {
    await server.stop();
  }
}

async function killPart() {
  const folder = join(work, "kills");
  const model = join(folder, "model");
  await writeServedModel(model, "llama");
  return killRuns({ work: folder, model, port, mark: randomUUID(), kills: Number(values.kills), note });
}
