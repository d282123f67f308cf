import { type Command, Option } from "commander";
import { defined } from "../../../base/records/defined.ts";
import { displayPath } from "../../../base/validation/place.ts";
import { withWeights } from "../../../control/operations/with-weights.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { isRun } from "../../../run/folder/run-file.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { refuseUsedTarget } from "./used-target.ts";
import { dtypes, writeExport } from "./written-export.ts";

interface Options {
  dtype: keyof typeof dtypes;
  merge: boolean;
  policyVersion?: string;
  runs: string;
  base?: string;
}

/** `everturn export <policy> <target>`: exports a policy version for other programs. */
export function registerExport(program: Command): void {
  program
    .command("export")
    .description("export a policy as a Hugging Face folder or a GGUF file")
    .argument("<policy>", "id or path of a run, or any folder with a policy")
    .argument("<target>", "new folder, or file that ends in .gguf; existing files are never overwritten")
    .addOption(
      new Option("--dtype <type>", "data type of the weights")
        .choices(Object.keys(dtypes))
        .default("float32"),
    )
    .option("--merge", "merge the LoRA adapter into the weights of its base model", false)
    .option("--policy-version <number>", "version of the run's policy (default: the newest)")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option(
      "--base <folder>",
      "base model of the adapter, if it has moved from the path in the adapter's config",
    )
    .action(exportPolicy);
}

async function exportPolicy(named: string, target: string, options: Options): Promise<void> {
  await refuseUsedTarget(target);
  const { dtype, merge, policyVersion, base } = options;
  const write = (policy: string, usualBase?: string) =>
    writeExport(policy, target, defined({ merge, base: base ?? usualBase, dtype: dtypes[dtype] }));
  const { runs, run } = runReference(named, options.runs);
  if (policyVersion === undefined && !isRun(runs, run)) {
    await write(named);
    return tell(named, target);
  }
  const opened = await openRunFolder(runs, run);
  await withWeights(opened, policyVersion ?? "newest", async ({ folder, policy, base: usualBase }) => {
    await write(policy, usualBase);
    tell(displayPath(folder), target);
  });
}

function tell(policy: string, target: string): void {
  process.stdout.write(`${policy} is in ${target}\n`);
}
