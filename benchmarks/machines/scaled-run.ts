import { placeRun } from "../../src/control/operations/place-run.ts";
import { type SupervisedRun, superviseRun } from "../../src/control/supervision/supervised-run.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { roles } from "../../src/run/folder/queues.ts";
import { lastRecordedStep } from "../../src/run/folder/recorded-steps.ts";
import { initializeVersion } from "../../tests/support/versions.ts";
import { conversation, scriptedPlan } from "../durability/scripted-plan.ts";
import { takeSteps } from "../take-steps.ts";
import { startWorkers, type Workers } from "./workers.ts";

/** A run whose workers are all elsewhere: as many per role as a measurement needs. */
export interface ScaledRun {
  supervised: SupervisedRun;
  /** Starts `count` workers of each role. Each policy worker generates `slots` turns at once. */
  work(count: number, slots: number): Promise<Workers>;
  /** Takes a step of `trajectories`; returns the seconds of its rollout. */
  step(trajectories: number): Promise<number>;
}

/** Creates a run at `place` on the server at `address`. A generation takes `seconds`; trajectories have `turns`. */
export async function openScaledRun(options: {
  folder: string;
  address: string;
  place: { runs: string } | { store: string };
  run: string;
  seconds: number;
  turns: number;
  /** The most trajectories of a step. */
  most: number;
  log: string;
}): Promise<ScaledRun> {
  const { folder, address, seconds, turns, most, log } = options;
  const conversations = [conversation(turns)];
  const plan = await scriptedPlan(folder, { conversations, seconds, batchSize: most });
  const placed = { ...options.place, run: options.run, address, workers: "elsewhere" as const };
  const { runs, run } = await placeRun(plan, placed);
  const opened = await openRunFolder(runs, run);
  await initializeVersion(opened, 0);
  const supervised = await superviseRun({ runs, run, temporal: undefined });
  let nextStep = 0;
  return {
    supervised,
    work: (count, slots) => {
      const each = roles.flatMap((role) => {
        const own = role === "policy" ? ["--at-once", String(slots)] : [];
        return Array.from({ length: count }, () => ["--run", run, "--runs", runs, "--role", role, ...own]);
      });
      return startWorkers(each, log);
    },
    step: async (trajectories) => {
      nextStep++;
      const rollout = { ...plan.rollout, batchSize: trajectories };
      const from = { nextStep, policyVersion: 0, turnSeconds: seconds };
      await takeSteps(supervised, { ...opened, plan: { ...plan, rollout } }, from);
      const record = await lastRecordedStep(opened.store);
      if (record?.step !== nextStep || record.trajectories !== trajectories)
        throw new Error(`step ${nextStep} trained on ${record?.trajectories} trajectories`);
      return record.seconds.rollout;
    },
  };
}
