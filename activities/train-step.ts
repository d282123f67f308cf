import { join } from "node:path";
import type { BatchMember, TrainStepInput, TrainStepResult } from "../src/contracts/activities.ts";
import type { TrainerFolders } from "../src/contracts/trainer.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { saveTrainer } from "../src/runs/save-trainer.ts";
import type { TrainerWorker } from "../src/temporal/trainer-worker.ts";
import { once } from "../src/trajectory/journal.ts";
import { trainingTrajectory } from "../src/trajectory/training-trajectory.ts";

/** A policy-gradient step on a batch of finished trajectories: writes the next policy version. Done once a step. */
export function trainStep(worker: TrainerWorker) {
  return async ({ run, step, policyVersion, batch }: TrainStepInput): Promise<TrainStepResult> => {
    const opened = await worker.openRun(run);
    const { folder, plan } = opened;
    const temperature = plan.rollout.temperature || 1; // greedy actions are seen at temperature 1
    const next = policyVersion + 1;
    return once(join(folder.root, "steps", `train-${step}.json`), async () => {
      const started = performance.now();
      const loaded = await Promise.all(batch.map((member) => load(opened, member)));
      const trajectories = loaded.filter(({ tokens }) => tokens.length > 0); // others had no room for an action
      const metrics = await worker.train({
        run,
        from: `policy ${policyVersion}`,
        to: `policy ${next}`,
        folders: foldersAt(opened, policyVersion),
        work: async (trainer) => {
          const metrics = await trainer.policyGradientStep(trajectories, { temperature });
          await saveTrainer(trainer, folder.policy(next), folder.trainer(next));
          return metrics;
        },
      });
      return { policyVersion: next, metrics, seconds: (performance.now() - started) / 1000 };
    });
  };
}

async function load({ store }: OpenRun, { trajectory, head, ...member }: BatchMember) {
  return trainingTrajectory({ id: trajectory, ...member }, await store.chain(head));
}

/** The first step starts the optimizer and the value head anew; the reference is the policy it starts from. */
function foldersAt({ plan, folder }: OpenRun, version: number): TrainerFolders {
  const reference = plan.warmStart === undefined ? 0 : 1;
  const base = {
    initial: folder.policy(0),
    policy: folder.policy(version),
    reference: folder.policy(reference),
    failures: join(folder.root, "failures"),
  };
  return version === reference ? base : { ...base, state: folder.trainer(version) };
}
