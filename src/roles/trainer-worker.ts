import type { MaskedTokens } from "../contracts/policy.ts";
import type { Trainer, TrainerFolders } from "../contracts/trainer.ts";
import { readDemonstrations } from "../pipeline/demonstrations.ts";
import { toolDefinitions } from "../pipeline/tool-definitions.ts";
import { loadPolicy, loadTrainer } from "../plugins/registry.ts";
import { sharedPromises } from "../promises/shared-promises.ts";
import { type OpenRun, openRuns } from "../runs/open-runs.ts";

/** What the activities of the queue `trainer` share in a worker: open runs, their trainers, demonstrations. */
export interface TrainerWorker {
  openRun(run: string): Promise<OpenRun>;
  /**
   * Does `work` with a trainer that stands at `from`: the one in memory if it stands there, else one opened from
   * `folders`. Afterwards the trainer stands at `to`; if `work` throws it is dropped.
   */
  train<T>(options: {
    run: string;
    from: string;
    to: string;
    folders: TrainerFolders;
    work: (trainer: Trainer) => Promise<T>;
  }): Promise<T>;
  /** The warm start's demonstrations as tokens. */
  demonstrations(run: string): Promise<MaskedTokens[]>;
  close(): Promise<void>;
}

/** A trainer worker over the runs in the folder `runs`. */
export function trainerWorker(runs: string): TrainerWorker {
  const openRun = openRuns(runs);
  const demonstrations = sharedPromises<MaskedTokens[]>();
  const trainers = new Map<string, { position: string; trainer: Trainer }>();

  async function drop(run: string): Promise<void> {
    const held = trainers.get(run);
    trainers.delete(run);
    await held?.trainer.close();
  }

  async function frameDemonstrations(run: string): Promise<MaskedTokens[]> {
    const { plan, folder } = await openRun(run);
    if (plan.warmStart === undefined) return [];
    const policy = await (await loadPolicy(plan.policy)).open(folder.policy(0), plan.policy.config);
    const definitions = toolDefinitions(plan);
    try {
      const rows = await readDemonstrations(plan.warmStart.demonstrations);
      return rows.map((row) => policy.frameDemonstration(row.messages, definitions));
    } finally {
      await policy.close();
    }
  }

  return {
    openRun,
    train: async ({ run, from, to, folders, work }) => {
      let held = trainers.get(run);
      if (held?.position !== from) {
        await drop(run);
        const { plan } = await openRun(run);
        const plugin = await loadTrainer(plan.trainer);
        const { config, loss } = plan.trainer;
        held = { position: from, trainer: await plugin.open(folders, config, plan.seed, loss) };
        trainers.set(run, held);
      }
      try {
        const result = await work(held.trainer);
        held.position = to;
        return result;
      } catch (error) {
        await drop(run);
        throw error;
      }
    },
    demonstrations: (run) => demonstrations.get(run, () => frameDemonstrations(run)),
    close: async () => {
      for (const run of [...trainers.keys()]) await drop(run);
    },
  };
}
