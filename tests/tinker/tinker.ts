// npm run tinker -- [--server skyrl|hatchery] [--only losses|learn|steps|kills|sampling …] [--case NAME …] [--kills N] [--port N] [--json]:
// `trainer-tinker` on the published server of SkyRL or Hatchery, which the first run installs into the user's cache (6 to 7 GB).
//   losses: each loss and its gradient against trainer-onnx. --case takes single ones.
//   learn: a run on SkyRL's server that learns to use the calculator.
//   steps: steps on Hatchery that are interrupted, such as it refuses, and what the trainer works around.
//   kills: runs whose processes and whose server are killed and stopped N times (default 50), against a run left alone.
//   sampling: the same with N / 5 kills and stops of runs that sample on SkyRL's server, during requests for actions.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { hatchery } from "./hatchery/hatchery-kind.ts";
import { runHatchery } from "./hatchery/run.ts";
import type { StepsReport } from "./hatchery/steps.ts";
import { type KillPart, type KillReport, killRuns } from "./kills.ts";
import { learn } from "./learn/learn.ts";
import { prepareBase } from "./learn/prepare-base.ts";
import { lossCases } from "./loss-cases.ts";
import { compareLosses, type LossDifference } from "./losses.ts";
import { type Family, writeServedModel } from "./served-model.ts";
import { startSkyrl } from "./skyrl.ts";
import { skyrl } from "./skyrl-kind.ts";

/** The largest difference of a number, relative to the number, that float32 explains. */
const tolerance = 1e-4;

/** The shares of solved tasks before and after the calculator run. */
const goal = { before: 0.05, after: 0.9 };

const kinds = { skyrl, hatchery };
const parts = ["losses", "learn", "steps", "kills", "sampling"];
const { values } = parseArgs({
  options: {
    server: { type: "string", default: "skyrl" },
    only: { type: "string", multiple: true, default: parts },
    case: { type: "string", multiple: true, default: lossCases.map(({ name }) => name) },
    kills: { type: "string", default: "50" },
    port: { type: "string", default: "0" },
    json: { type: "boolean", default: false },
  },
});
const unknown = values.only.filter((name) => !parts.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(", ")}. There are ${parts.join(", ")}.\n`);
  process.exit(2);
}
if (values.server !== "skyrl" && values.server !== "hatchery") {
  process.stderr.write(
    `There is no server ${values.server}. There are ${Object.keys(kinds).join(" and ")}.\n`,
  );
  process.exit(2);
}
const kind = kinds[values.server];
const mostKills = Number(values.kills);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const out = values.json ? process.stderr : process.stdout;
const note = (text: string) => void out.write(`${text}\n`);
const work = mkdtempSync(join(tmpdir(), "everturn-tinker-"));
note(`working in ${work}`);
const port = await freePort(Number(values.port));

const own = kind === hatchery ? await hatcheryParts() : undefined;
const losses: Record<string, LossDifference> = own
  ? (own.losses.float32 ?? {})
  : values.only.includes("losses")
    ? { ...(await lossesOf("llama")), ...(await lossesOf("qwen3")) }
    : {};
const learned = kind === skyrl && values.only.includes("learn") ? await learnPart() : undefined;
const kills = values.only.includes("kills") ? await killPart("kills", mostKills) : undefined;
const sampling =
  kind === skyrl && values.only.includes("sampling")
    ? await killPart("sampling", Math.ceil(mostKills / 5))
    : undefined;
const struck = [kills, sampling].filter((one) => one !== undefined);
const largestDifference = Math.max(0, ...Object.values(losses).flatMap((one) => Object.values(one)));
const result = {
  server: kind.name,
  losses,
  largestDifference,
  learned: learned ?? null, // Hatchery's actions are refused
  ...(own && { bfloat16: own.losses.bfloat16, precision: own.precision, steps: own.steps }),
  kills,
  sampling,
  optimizerStepsTwice: struck.reduce((sum, one) => sum + one.optimizerStepsTwice, 0),
  optimizerStepsLost: struck.reduce((sum, one) => sum + one.optimizerStepsLost, 0),
  ledger: struck.every((one) => one.ledger),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
const steps = own?.steps;
const isExact = largestDifference <= tolerance && (steps === undefined || areExact(steps));
const isDurable = struck.every(areDurable) && (sampling?.sampled?.logprobGap ?? 0) <= tolerance;
const hasLearned = learned === undefined || (learned.before <= goal.before && learned.after >= goal.after);
if (isExact && hasLearned && isDurable) rmSync(work, { recursive: true, force: true });
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

async function learnPart() {
  const folder = join(work, "learn");
  const base = join(folder, "base");
  await prepareBase(base, { runs: join(folder, "base-runs") });
  const server = await startSkyrl({ folder: join(folder, "server"), model: base, port });
  try {
    const { before, after } = await learn({ url: server.url, base, runs: join(folder, "runs") });
    return { before, after };
  } finally {
    await server.stop();
  }
}

async function killPart(part: KillPart, most: number): Promise<KillReport> {
  const folder = join(work, part);
  const model = join(folder, "model");
  await writeServedModel(model, "llama");
  return killRuns({ part, kind, work: folder, model, port, mark: randomUUID(), kills: most, note });
}

/** No step was made twice or lost, and each run ended by itself with the weights of one left alone. */
function areDurable(report: KillReport): boolean {
  const { optimizerStepsTwice, optimizerStepsLost, unrecovered, ledger, compared, repeatability } = report;
  const isWhole = optimizerStepsTwice + optimizerStepsLost + unrecovered === 0 && ledger;
  return isWhole && compared > 0 && report.largestDifference <= repeatability;
}

async function hatcheryParts() {
  const [folder, initial] = [join(work, "hatchery"), join(work, "hatchery", "model")];
  const vocabulary = await writeServedModel(initial, "llama");
  const { only, case: cases } = values;
  return runHatchery({ work: folder, initial, vocabulary, port, parts: only, cases, note });
}

/** Interrupted steps equal those left alone, within what the server itself repeats. */
function areExact(report: StepsReport): boolean {
  const largest = Math.max(report.keptOpen, ...Object.values(report.interrupted));
  return largest <= report.repeatability && report.optimizerStepsTwice + report.optimizerStepsLost === 0;
}
