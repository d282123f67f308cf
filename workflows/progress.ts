import { defineQuery, defineSignal } from "@temporalio/workflow";
import { type ClosedSignal, trajectoriesClosedSignal } from "../src/contracts/activities.ts";
import type { EndedSignal } from "../src/contracts/rollout.ts";
import type { RunProgress, StageProgress } from "../src/contracts/run.ts";

/** Asks the training workflow for the run's progress. */
export const runProgress = defineQuery<RunProgress>("progress");

/** Asks a step or an evaluation for its progress. */
export const stageProgress = defineQuery<StageProgress>("progress");

/** Tells the training workflow how many times the run's plan has changed. */
export const planChanged = defineSignal<[number]>("plan-changed");

/** Tells a shard which of the trajectories that a worker started for it have ended. */
export const trajectoriesClosed = defineSignal<[ClosedSignal]>(trajectoriesClosedSignal);

/** Tells the training workflow of an asynchronous run which trajectories have ended. */
export const trajectoriesEnded = defineSignal<[EndedSignal]>("trajectories-ended");
