import type { Trainer } from "../contracts/trainer.ts";
import { replaceFolder } from "./replace-folder.ts";

/** Saves a trainer's policy and state, each folder whole or not at all. */
export function saveTrainer(trainer: Trainer, policy: string, state: string): Promise<void> {
  return replaceFolder(state, (temporaryState) =>
    replaceFolder(policy, (temporaryPolicy) => trainer.save(temporaryPolicy, temporaryState)),
  );
}
