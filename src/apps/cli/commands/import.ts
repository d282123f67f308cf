import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { importModel } from "../../../engine/models/policy/import-model.ts";
import { knownModelNames } from "../../../engine/models/policy/known-models.ts";
import type { Quantization } from "../../../engine/models/weights/quantize.ts";
import { refuseUsedTarget, writeNewFolder } from "./used-target.ts";

/** `everturn import <model> <folder>`: converts a model to a folder from which policies can start. */
export function registerImport(program: Command): void {
  program
    .command("import")
    .description("convert a model to a Hugging Face folder with float32 weights that Everturn can train")
    .argument("<model>", `a GGUF file, a folder of Hugging Face's files, or ${knownModelNames.join(", ")}`)
    .argument("<folder>", "new folder for the model; existing files are never overwritten")
    .addOption(
      new Option("--quantization <type>", "quantize the matrices for training with LoRA").choices([
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
