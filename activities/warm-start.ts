import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { WarmStartInput, WarmStartResult } from "../src/contracts/activities.ts";
import type { TrainerFolders } from "../src/contracts/trainer.ts";
import { batchIndices } from "../src/runs/batch-indices.ts";
import type { RunFolder } from "../src/runs/run-folder.ts";
import { saveTrainer } from "../src/runs/save-trainer.ts";
import type { TrainerWorker } from "../src/temporal/trainer-worker.ts";
import { once } from "../src/trajectory/journal.ts";

/**
 * Supervised steps `from` to `to` on the demonstrations. Each slice leaves a checkpoint, so that a dead worker
 * repeats one slice at most; the last one is policy version 1.
 */
export function warmStart(worker: TrainerWorker) {
  return async ({ run, from, to }: WarmStartInput): Promise<WarmStartResult> => {
    const { plan, folder } = await worker.openRun(run);
    const settings = plan.warmStart;
    if (settings === undefined) return { firstLoss: 0, lastLoss: 0, seconds: 0 };
    const isLast = to === settings.steps;
    const result = await once(join(folder.root, "warm-start", `steps-${from}-${to}.json`), async () => {
      const started = performance.now();
      const demonstrations = await worker.demonstrations(run);
      const losses = await worker.train({
        run,
        from: positionOf(from),
        to: positionOf(to),
        folders: foldersAt(folder, from),
        work: async (trainer) => {
          const losses: number[] = [];
          for (let number = from; number < to; number++) {
            const { length } = demonstrations;
            const purpose = "demonstrations";
            const batch = batchIndices({
              length,
              size: settings.batchSize,
              number,
              seed: plan.seed,
              purpose,
            });
            const examples = batch.flatMap((index) => demonstrations[index] ?? []);
            losses.push((await trainer.supervisedStep(examples, settings)).loss);
          }
          const target = folder.warmStart(to);
          await saveTrainer(trainer, isLast ? folder.policy(1) : target.policy, target.state);
          return losses;
        },
      });
      const seconds = (performance.now() - started) / 1000;
      return { firstLoss: losses[0] ?? 0, lastLoss: losses.at(-1) ?? 0, seconds };
    });
    const previous = folder.warmStart(from);
    await Promise.all(
      [previous.policy, previous.state].map((path) => rm(path, { recursive: true, force: true })),
    );
    return result;
  };
}

function positionOf(step: number): string {
  return `warm-start ${step}`;
}

function foldersAt(folder: RunFolder, step: number): TrainerFolders {
  const initial = folder.policy(0);
  const both = { initial, failures: join(folder.root, "failures") };
  return step === 0 ? { ...both, policy: initial } : { ...both, ...folder.warmStart(step) };
}
