import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { importModel } from "../../../engine/models/policy/import-model.ts";
import { knownModelNames } from "../../../engine/models/policy/known-models.ts";
import type { Quantization } from "../../../engine/models/weights/quantize.ts";
import { refuseUsedTarget, writeNewFolder } from "./used-target.ts";

/** `everturn import <model> <folder>`: a model as a folder that policies start from. */
export function registerImport(program: Command): void {
  program
    .command("import")
    .description("write a model as Hugging Face's files with float32 weights, which Everturn trains")
    .argument("<model>", `a GGUF file, a folder of Hugging Face's files, or ${knownModelNames.join(", ")}`)
    .argument("<folder>", "where to write it; nothing is overwritten")
    .addOption(
      new Option("--quantization <type>", "keep matrices in blocks of so few bits, under LoRA").choices([
        "int8",
        "int4",
      ]),
    )
    .action(async (model: string, folder: string, { quantization }: { quantization?: Quantization }) => {
      await refuseUsedTarget(folder);
      await writeNewFolder(resolve(folder), (temporary) => importModel(model, temporary, quantization));
      process.stdout.write(`${model} is in ${folder}\n`);
    });
}
