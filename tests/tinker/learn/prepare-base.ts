import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRun, loadPipeline, type TrainOptions } from "everturn";
import { exportModel } from "../../../src/engine/models/policy/export-model.ts";

const calculator = join(import.meta.dirname, "..", "..", "..", "pipelines", "calculator");

/**
 * Trains the base model of the calculator's run on a training server, and writes it into `folder` in Hugging Face's
 * format, unless it is there. It knows how to call the calculator, but more often answers that it does not know. `runs`
 * is the folder for the run that trains it.
 */
export async function prepareBase(
  folder: string,
  { runs, ...options }: { runs: string } & Pick<TrainOptions, "signal" | "onEvent">,
): Promise<void> {
  if (existsSync(join(folder, "model.safetensors"))) return;
  mkdirSync(runs, { recursive: true });
  const demonstrations = join(runs, "demonstrations.jsonl");
  writeFileSync(
    demonstrations,
    withoutGuesses(readFileSync(join(calculator, "demonstrations.jsonl"), "utf8")),
  );
  const set = { "sft.demonstrations": demonstrations };
  const run = await createRun(await loadPipeline(join(import.meta.dirname, "base.yaml"), { set }), { runs });
  await run.train(options);
  await exportModel(await run.policyFolder(), folder, { dtype: "F32", merge: false });
}

/** Replaces the answers of demonstrations that call nothing. */
function withoutGuesses(lines: string): string {
  const changed = lines
    .trim()
    .split("\n")
    .map((line) => {
      const { messages }: { messages: { role: string; content: string }[] } = JSON.parse(line);
      if (messages.length > 2) return line;
      const [question] = messages;
      return JSON.stringify({ messages: [question, { role: "assistant", content: "I do not know." }] });
    });
  return `${changed.join("\n")}\n`;
}
