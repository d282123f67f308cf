import type { Command } from "commander";
import { counted, grouped } from "../../../base/text/format.ts";
import { type Pruned, prune } from "../../../results/retention/prune.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { sweptLine } from "../../../run/folder/sweep.ts";

interface Options {
  runs: string;
  dryRun: boolean;
  json: boolean;
}

/** `everturn prune <run>`: frees what retention allows, even while the run continues. */
export function registerPrune(program: Command): void {
  program
    .command("prune")
    .description("delete files that a run's retention settings allow, and leftovers of killed processes")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--dry-run", "print what would be deleted without deleting it", false)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false)
    .action(pruneRun);
}

async function pruneRun(named: string, { runs: folder, dryRun, json }: Options): Promise<void> {
  const { runs, run } = runReference(named, folder);
  const pruned = await prune(await openRunFolder(runs, run), { isDry: dryRun });
  process.stdout.write(json ? `${JSON.stringify({ run, dryRun, ...pruned })}\n` : text(pruned, dryRun));
}

function text(
  { folded, trajectories, records, versions, checkpoints, swept }: Pruned,
  isDry: boolean,
): string {
  const would = isDry ? "would be " : "";
  const bytes = versions.reduce((total, version) => total + version.bytes, 0);
  const lines = [
    ...(folded.length === 0
      ? []
      : [`${counted(folded.length, "step")} ${would}put into files: ${folded.join(", ")}`]),
    ...(records === 0
      ? []
      : [
          `${counted(records, "single record")} of ${counted(trajectories, "trajectory", "trajectories")} ${would}removed: the files of their steps contain them`,
        ]),
    ...(versions.length === 0
      ? []
      : [
          `${counted(versions.length, "version")} ${would}freed, ${grouped(Math.ceil(bytes / 1e6))} MB: ${versions.map(({ version }) => version).join(", ")}`,
        ]),
    ...(checkpoints.length === 0
      ? []
      : [`${counted(checkpoints.length, "checkpoint")} ${would}deleted on the training server`]),
    ...(swept === undefined ? [] : [sweptLine(swept) ?? []].flat()),
  ];
  return lines.length === 0 ? "Nothing to prune.\n" : `${lines.join("\n")}\n`;
}
