import { type Command, Option } from "commander";
import { displayPath } from "../../../base/validation/place.ts";
import { versionFolder } from "../../../control/operations/find-version.ts";
import { openRun } from "../../../run/folder/open-runs.ts";
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

/** `everturn export <policy> <target>`: a version of a policy for other programs. */
export function registerExport(program: Command): void {
  program
    .command("export")
    .description("write a policy as Hugging Face's files or as a GGUF file")
    .argument("<policy>", "the run that made it, by id or path, or any folder of a policy")
    .argument("<target>", "a folder, or a file that ends in .gguf; nothing is overwritten")
    .addOption(
      new Option("--dtype <type>", "type of the weights").choices(Object.keys(dtypes)).default("float32"),
    )
    .option("--merge", "put a LoRA adapter into its base model's weights", false)
    .option("--policy-version <number>", "of a run; default: the newest")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--base <folder>", "the adapter's base model, if it isn't where the adapter says")
    .action(exportPolicy);
}

async function exportPolicy(named: string, target: string, options: Options): Promise<void> {
  await refuseUsedTarget(target);
  const { dtype, merge } = options;
  const { policy, base } = await policyOf(named, options);
  const wanted = { merge, ...(base && { base }), dtype: dtypes[dtype] };
  await writeExport(policy, target, wanted);
  process.stdout.write(`${policy} is in ${target}\n`);
}

/** The folder of a policy, and of its base where that is known. Throws POLICY_NOT_FOUND. */
async function policyOf(named: string, options: Options): Promise<{ policy: string; base?: string }> {
  const { policyVersion, base } = options;
  const given = base === undefined ? {} : { base };
  const { runs, run } = runReference(named, options.runs);
  if (policyVersion === undefined && !isRun(runs, run)) return { policy: named, ...given };
  const opened = await openRun(runs, run);
  const folderOf = async (version: string) => displayPath(await versionFolder(opened, version));
  return { policy: await folderOf(policyVersion ?? "newest"), base: await folderOf("0"), ...given };
}
