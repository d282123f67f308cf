import { executeChild, proxyLocalActivities } from "@temporalio/workflow";
import type { BareActivities } from "./bare-worker.ts";

const { generate, call, score } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: "1 minute" });

/** As many children at once as a step has trajectories. */
export async function bareStep(trajectories: number, turns: number): Promise<void> {
  const children = Array.from({ length: trajectories }, () =>
    executeChild(bareTrajectory, { args: [turns] }),
  );
  await Promise.all(children);
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
