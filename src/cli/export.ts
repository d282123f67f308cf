import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { exportModel } from "../models/export-model.ts";
import type { FloatType } from "../models/float-types.ts";
import { refuseUsedTarget, writeNewFolder } from "./used-target.ts";

const dtypes = new Map<string, FloatType>([
  ["float32", "F32"],
  ["float16", "F16"],
  ["bfloat16", "BF16"],
]);

interface Options {
  dtype: string;
  merge: boolean;
  base?: string;
}

/** `everturn export <policy> <target>`: a version of a policy for other programs. */
export function registerExport(program: Command): void {
  program
    .command("export")
    .description("write a policy as Hugging Face's files or as a GGUF file")
    .argument("<policy>", "its folder, such as runs/<run>/policies/v0041")
    .argument("<target>", "a folder, or a file that ends in .gguf; nothing is overwritten")
    .addOption(
      new Option("--dtype <type>", "type of the weights").choices([...dtypes.keys()]).default("float32"),
    )
    .option("--merge", "put a LoRA adapter into its base model's weights", false)
    .option("--base <folder>", "the adapter's base model, if it isn't where the adapter says")
    .action(exportPolicy);
}

async function exportPolicy(policy: string, target: string, options: Options): Promise<void> {
  await refuseUsedTarget(target);
  const { dtype, ...rest } = options;
  const wanted = { ...rest, dtype: dtypes.get(dtype) ?? "F32" };
  const path = resolve(target);
  if (target.endsWith(".gguf")) await exportModel(policy, path, wanted);
  else await writeNewFolder(path, (temporary) => exportModel(policy, temporary, wanted));
  process.stdout.write(`${policy} is in ${target}\n`);
}
