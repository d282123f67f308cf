import { batchesOfIndices } from "../src/base/random/batch-indices.ts";
import { defined } from "../src/base/records/defined.ts";
import type { WarmStartInput, WarmStartResult } from "../src/contracts/activities.ts";
import type { SupervisedSettings, Trainer } from "../src/contracts/trainer.ts";
import type { FramedChats } from "../src/plan/demonstrations/framed-examples.ts";
import { commitTree } from "../src/run/store/commit-tree.ts";
import { initialKey, warmStartKey } from "../src/run/store/keys.ts";
import { saved, type TrainerStart, type TrainerWorker } from "../src/work/workers/trainer-worker.ts";

/**
 * Takes the supervised steps `from` to `to` on the demonstrations. Each slice leaves a checkpoint, so that a
 * dead worker repeats at most one slice. The last checkpoint is policy version 1. If that version breaks
 * later, the checkpoints before it are already freed, and all steps are repeated with the same result. Throws
 * ATTEMPT_SUPERSEDED.
 */
export function warmStart(worker: TrainerWorker) {
  return async ({ run, from: before, to }: WarmStartInput): Promise<WarmStartResult> => {
    const { plan, store } = await worker.openRun(run);
    const settings = plan.warmStart;
    if (settings === undefined) return { firstLoss: 0, lastLoss: 0, seconds: 0 };
    const key = warmStartKey(to);
    const from = (await store.isFreed(warmStartKey(before), "trainer")) ? 0 : before;
    const standing =
      (await store.readTree(key)) ??
      (await worker.train({
        run,
        from: positionOf(from),
        to: positionOf(to),
        start: startAt(from),
        work: async (trainer) => {
          const started = performance.now();
          const demonstrations = await worker.demonstrations(run);
          const losses = await supervisedSteps(trainer, demonstrations, {
            ...settings,
            from,
            to,
            seed: plan.seed,
          });
          return commitTree(store, key, saved(trainer), () =>
            defined({
              firstLoss: losses[0] ?? 0,
              lastLoss: losses.at(-1) ?? 0,
              server: trainer.serverStep?.(),
              seconds: (performance.now() - started) / 1000,
            }),
          );
        },
      }));
    if (before > 0) for (const part of ["policy", "trainer"]) await store.free(warmStartKey(before), part);
    return standing.value;
  };
}

async function supervisedSteps(
  trainer: Trainer,
  demonstrations: FramedChats,
  settings: SupervisedSettings & { batchSize: number; from: number; to: number; seed: number },
): Promise<number[]> {
  const { from, to, batchSize: size, seed } = settings;
  const { length } = demonstrations;
  const batches = batchesOfIndices({ length, size, from, to, seed, purpose: "demonstrations" });
  await demonstrations.at(batches.flat()); // opens the policy that frames them only once
  const losses: number[] = [];
  for (const batch of batches) {
    const { loss } = await trainer.supervisedStep(await demonstrations.at(batch), settings);
    if (Number.isFinite(loss)) losses.push(loss); // an update that float16 skipped may have an infinite loss
  }
  return losses;
}

function positionOf(step: number): string {
  return `warm-start ${step}`;
}

function startAt(steps: number): TrainerStart {
  if (steps === 0) return { policy: { key: initialKey, part: "policy" } };
  const key = warmStartKey(steps);
  return { policy: { key, part: "policy" }, state: { key, part: "trainer" } };
}
