import { defineQuery, defineSignal } from "@temporalio/workflow";
import type { EndedSignal } from "../src/contracts/rollout.ts";
import type { RunProgress, StageProgress } from "../src/contracts/run.ts";

/** Asks the training workflow where the run is. */
export const runProgress = defineQuery<RunProgress>("progress");

/** Asks a step or an evaluation how far it is. */
export const stageProgress = defineQuery<StageProgress>("progress");

/** Tells the training workflow how often the run's plan has been changed. */
export const planChanged = defineSignal<[number]>("plan-changed");

/** Tells the training workflow of an asynchronous run which trajectories have ended. */
export const trajectoriesEnded = defineSignal<[EndedSignal]>("trajectories-ended");
