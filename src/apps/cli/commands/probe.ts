import type { Command } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { probePipeline } from "../../../control/operations/probe-pipeline.ts";
import { timesMemory } from "../../../control/operations/remembered-times.ts";
import { rewardNotes } from "../../../plan/pipeline/check/reward-notes.ts";
import { derivedNumbers } from "../../../plan/pipeline/explain/derived-numbers.ts";
import { checkPipeline } from "../../../plan/pipeline/load-plan.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { collect } from "../terminal/option-values.ts";
import { probeText } from "../views/probe-text.ts";

interface Options {
  set: string[];
  plugins: string[];
  temporal?: string;
  json: boolean;
}

/** `everturn probe <pipeline>`: runs two steps in a temporary folder, and reports what the policy does and costs. */
export function registerProbe(program: Command): void {
  program
    .command("probe")
    .description(
      "run two steps of a pipeline in a temporary folder: success, calls, rewards, and the time and memory of the whole run",
    )
    .argument("<pipeline>", "pipeline file (YAML)")
    .option("--set <key=value>", "override a value of the pipeline (repeatable)", collect, [])
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .option("--json", "print one line of JSON", false)
    .action(probe);
}

async function probe(pipeline: string, { set, plugins, temporal, json }: Options): Promise<void> {
  const loading = { overrides: set, pluginFolders: plugins };
  const { plan, preflight, data, notes } = await checkPipeline(pipeline, loading);
  if (plan.steps === 0) throw new EverturnError("PROBE_WITHOUT_STEPS", { pipeline });
  const writeLine = (text: string) => process.stderr.write(`${text}\n`);
  [...notes, ...(await rewardNotes(plan, data))].forEach(writeLine);
  const measured = await interruptible((signal) =>
    probePipeline(pipeline, loading, derivedNumbers(plan, preflight), {
      temporal,
      signal,
      onPhase: writeLine,
    }),
  );
  if (measured === "interrupted") return;
  await (await timesMemory(writeLine)).keep(plan, measured.times, "probe");
  process.stdout.write(`${json ? JSON.stringify(measured) : probeText(measured).join("\n")}\n`);
}
