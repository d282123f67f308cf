import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TinkerClient } from "@everturn/tinker";
import { lossCases } from "../loss-cases.ts";
import type { LossDifference } from "../losses.ts";
import { type HatcheryServer, startHatchery } from "./hatchery.ts";
import { compareOnHatchery, type Precision } from "./losses.ts";
import { type StepsReport, stepsOnHatchery } from "./steps.ts";

/** What the real server showed, by the type of its base model. */
export interface HatcheryReport {
  precision: Record<string, Precision>;
  losses: Record<string, Record<string, LossDifference>>;
  steps: StepsReport | undefined;
}

interface Options {
  work: string;
  /** The served model. */
  initial: string;
  vocabulary: number;
  port: number;
  parts: readonly string[];
  cases: readonly string[];
  note: (text: string) => void;
}

/**
 * Compares losses on Hatchery's server with those of `trainer-onnx`: with the base model in float32, which its worker takes as a
 * parameter, and in bfloat16, which it uses by default. Then makes steps on the latter.
 */
export async function runHatchery(options: Options): Promise<HatcheryReport> {
  const { work, initial, vocabulary, port, parts, cases, note } = options;
  const report: HatcheryReport = { precision: {}, losses: {}, steps: undefined };
  // A critic is trained here, whatever the server.
  const chosen = lossCases.filter(
    ({ name, family = "llama", hasCritic }) => cases.includes(name) && family === "llama" && !hasCritic,
  );
  for (const dtype of ["float32", "bfloat16"] as const) {
    if (!parts.includes("losses")) break;
    const folder = join(work, dtype);
    const server = await startHatchery({ folder: join(folder, "server"), model: initial, port, dtype });
    try {
      const place = { server, initial, vocabulary, work: join(folder, "losses"), note };
      const { precision, losses } = await compareOnHatchery(chosen, place);
      report.precision[dtype] = precision;
      report.losses[dtype] = losses;
    } finally {
      await server.stop();
    }
  }
  if (parts.includes("steps")) {
    const server = await startHatchery({ folder: join(work, "server"), model: initial, port });
    try {
      const restart = () => restarted(server);
      report.steps = await stepsOnHatchery({
        server,
        restart,
        initial,
        vocabulary,
        work: join(work, "steps"),
        note,
      });
    } finally {
      await server.stop();
    }
  }
  return report;
}

/** Kills the server's process, and waits until it has started again. */
export async function restarted({ url, log }: HatcheryServer): Promise<void> {
  const group = readFileSync(log, "utf8")
    .match(/process group \d+/g)
    ?.at(-1)
    ?.split(" ")
    .at(-1);
  process.kill(-Number(group), "SIGKILL");
  await sleep(1500);
  await new TinkerClient({ baseUrl: url, retry: { attempts: 60, maxDelayMs: 2000 } }).health();
}
