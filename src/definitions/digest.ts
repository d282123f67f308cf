import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plan, ResolvedPlugin } from "../contracts/plan.ts";

/** SHA-256 of a file; empty if it can't be read. */
export function digestOf(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "";
  }
}

/** The modules of a plan's plugins in one file, and what these import, that are not what they were when it was made. */
export function changedSources({ policy, dataset, tools, loop, reward, trainer }: Plan): string[] {
  const plugins: ResolvedPlugin[] = [
    policy,
    dataset.train,
    dataset.validation,
    ...tools,
    loop,
    reward,
    trainer,
  ];
  if (trainer.loss !== undefined) plugins.push(trainer.loss);
  const files = new Map(plugins.flatMap(({ source }) => Object.entries(source?.files ?? {})));
  return [...files].flatMap(([file, digest]) => (digestOf(file) === digest ? [] : [file]));
}
