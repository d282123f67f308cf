import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import type { BareActivities } from "./bare-worker.ts";

const { generate, call, score } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: "1 minute" });

const { runAll } = proxyActivities<BareActivities>({ startToCloseTimeout: "1 minute" });

/** As many workflows at once as a step has trajectories, started as Everturn starts them. */
export async function bareStep(trajectories: number, turns: number): Promise<void> {
  await runAll(trajectories, turns);
}

/** The activities of a trajectory whose turns call one tool, without the last one. */
export async function bareTrajectory(turns: number): Promise<number> {
  let text = "";
  for (let turn = 1; turn <= turns; turn++) {
    text = await generate(text);
    if (turn < turns) text = await call(text);
  }
  return score(text);
}
