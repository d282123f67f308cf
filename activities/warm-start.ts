import { rm } from "node:fs/promises";
import type { WarmStartInput, WarmStartResult } from "../src/contracts/activities.ts";
import type { MaskedTokens } from "../src/contracts/policy.ts";
import type { SupervisedSettings, Trainer, TrainerFolders } from "../src/contracts/trainer.ts";
import { batchIndices } from "../src/random/batch-indices.ts";
import type { TrainerWorker } from "../src/roles/trainer-worker.ts";
import { commit, committed } from "../src/runs/commit.ts";
import type { RunFolder } from "../src/runs/run-folder.ts";

/**
 * Supervised steps `from` to `to` on the demonstrations. Each slice leaves a checkpoint, so that a dead worker
 * repeats one slice at most; the last one is policy version 1. Throws ATTEMPT_SUPERSEDED.
 */
export function warmStart(worker: TrainerWorker) {
  return async ({ run, from, to }: WarmStartInput): Promise<WarmStartResult> => {
    const { plan, folder } = await worker.openRun(run);
    const settings = plan.warmStart;
    if (settings === undefined) return { firstLoss: 0, lastLoss: 0, seconds: 0 };
    const file = folder.warmStartSlice(from, to);
    const target = folder.warmStart(to);
    const targets = [target.state, to === settings.steps ? folder.policy(1) : target.policy];
    const result =
      (await committed<WarmStartResult>(file, targets)) ??
      (await worker.train({
        run,
        from: positionOf(from),
        to: positionOf(to),
        folders: foldersAt(folder, from),
        work: async (trainer) => {
          const started = performance.now();
          const examples = await worker.demonstrations(run);
          const losses = await supervisedSteps(trainer, examples, { ...settings, from, to, seed: plan.seed });
          const save = ([state = "", policy = ""]: readonly string[]) => trainer.save(policy, state);
          return commit<WarmStartResult>(file, targets, save, () => ({
            ...{ firstLoss: losses[0] ?? 0, lastLoss: losses.at(-1) ?? 0 },
            seconds: (performance.now() - started) / 1000,
          }));
        },
      }));
    const previous = folder.warmStart(from);
    for (const path of [previous.policy, previous.state]) await rm(path, { recursive: true, force: true });
    const { firstLoss, lastLoss, seconds } = result;
    return { firstLoss, lastLoss, seconds };
  };
}

async function supervisedSteps(
  trainer: Trainer,
  demonstrations: readonly MaskedTokens[],
  settings: SupervisedSettings & { batchSize: number; from: number; to: number; seed: number },
): Promise<number[]> {
  const { from, to, batchSize: size, seed } = settings;
  const losses: number[] = [];
  for (let number = from; number < to; number++) {
    const { length } = demonstrations;
    const batch = batchIndices({ length, size, number, seed, purpose: "demonstrations" });
    const examples = batch.flatMap((index) => demonstrations[index] ?? []);
    const { loss } = await trainer.supervisedStep(examples, settings);
    if (Number.isFinite(loss)) losses.push(loss); // that of an update that float16 skipped need not be
  }
  return losses;
}

function positionOf(step: number): string {
  return `warm-start ${step}`;
}

function foldersAt(folder: RunFolder, step: number): TrainerFolders {
  const initial = folder.policy(0);
  const both = { initial, failures: folder.failures };
  return step === 0 ? { ...both, policy: initial } : { ...both, ...folder.warmStart(step) };
}
