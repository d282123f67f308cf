import type { Command } from "commander";
import { counted } from "../../../base/text/format.ts";
import { runSeconds } from "../../../control/operations/measured-times.ts";
import { type Probe, probePipeline } from "../../../control/operations/probe-pipeline.ts";
import { type RememberedTimes, timesMemory } from "../../../control/operations/remembered-times.ts";
import { rewardNotes } from "../../../plan/pipeline/check/reward-notes.ts";
import { derivedNumbers } from "../../../plan/pipeline/explain/derived-numbers.ts";
import { forecastMemory } from "../../../plan/pipeline/explain/forecast-memory.ts";
import { forecastServer } from "../../../plan/pipeline/explain/server-usage.ts";
import { checkPipeline } from "../../../plan/pipeline/load-plan.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { collect } from "../terminal/option-values.ts";
import { aboutText } from "../views/estimate.ts";
import { explanation, suppliedParts } from "../views/explanation.ts";
import { forecastText, samplingText } from "../views/forecast-text.ts";
import { preflightText } from "../views/preflight-text.ts";
import { probeText } from "../views/probe-text.ts";
import { usageText } from "../views/usage-text.ts";

interface Options {
  set: string[];
  plugins: string[];
  probe: boolean;
  temporal?: string;
  json: boolean;
}

/** Lengths of trajectories, in tokens, for which updates are estimated. */
const lengths = [512, 2048, 8192, 32_768];

/**
 * `everturn explain <pipeline>`: describes in numbers what a run of it will do. It starts nothing unless a probe is
 * requested.
 */
export function registerExplain(program: Command): void {
  program
    .command("explain")
    .description("explain what a run of a pipeline will do, step by step and in numbers, without starting it")
    .argument("<pipeline>", "pipeline file (YAML)")
    .option("--probe", "also probe it, as everturn probe does", false)
    .option("--set <key=value>", "override a value of the pipeline (repeatable)", collect, [])
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--temporal <path>", "Temporal CLI that starts the dev server for --probe")
    .option("--json", "print one line of JSON", false)
    .action(explain);
}

async function explain(pipeline: string, { set, plugins, probe, temporal, json }: Options): Promise<void> {
  const loading = { overrides: set, pluginFolders: plugins };
  const { plan, preflight, data, notes: found } = await checkPipeline(pipeline, loading);
  const notes = [...found, ...(await rewardNotes(plan, data))];
  const numbers = derivedNumbers(plan, preflight);
  const { sampling, updates } = await forecastMemory(plan, preflight, lengths);
  const writeLine = (one: string) => process.stderr.write(`${one}\n`);
  const memory = await timesMemory(writeLine);
  let measured: Probe | undefined;
  if (probe && plan.steps > 0) {
    const probed = await interruptible((signal) =>
      probePipeline(pipeline, loading, numbers, { temporal, signal, onPhase: writeLine }),
    );
    if (probed === "interrupted") return;
    measured = probed;
    await memory.keep(plan, measured.times, "probe");
  }
  const earlier = measured === undefined ? memory.of(plan) : undefined;
  const time = earlier && { run: runSeconds(numbers, earlier), ...earlier };
  const server = await forecastServer(plan, preflight, numbers);
  const measuredServer = measured && (await forecastServer(plan, preflight, numbers, measured.record));
  const line = {
    ...numbers,
    parts: suppliedParts(plan),
    preflight: preflight.counted,
    sampling,
    memory: updates.length === 0 ? undefined : updates,
    server: server && { atMost: server, measured: measuredServer },
    time,
    notes,
    probe: measured,
  };
  const text = [
    explanation(plan, numbers),
    ...(sampling === undefined ? [] : ["", samplingText(sampling)]),
    ...(updates.length === 0 ? [] : ["", ...forecastText(updates)]),
    ...(server === undefined ? [] : ["", ...usageText(server, measuredServer)]),
    ...(measured === undefined && plan.steps > 0 ? ["", timeText(pipeline, time)] : []),
    ...(measured === undefined ? [] : ["", "Measured by a probe", ...probeText(measured)]),
    ...notes,
    "",
    "Prompt",
    preflightText(preflight, plan),
  ];
  process.stdout.write(`${json ? JSON.stringify(line) : text.join("\n")}\n`);
}

/** A line about the time of a whole run, as measured earlier. */
function timeText(pipeline: string, time: (RememberedTimes & { run: number }) | undefined): string {
  if (time === undefined) return `Time: npx everturn probe ${pipeline} measures it`;
  const { run, by, at, measuredSteps } = time;
  const measured = `measured by a ${by} on ${at.slice(0, 10)} (${counted(measuredSteps, "step")})`;
  return `Time: ${aboutText(run, 0)}, as ${measured}`;
}
