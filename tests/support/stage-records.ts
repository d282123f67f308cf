import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import { openRunStore } from "../../src/run/store/open-run-store.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readTrajectories } from "../../src/run/trajectory/trajectory-files.ts";

/** The records of the finished trajectories of a stage, in order; `root` is the run's folder. */
export async function stageRecords(root: string, stage: string): Promise<Trajectory[]> {
  const reader = trajectoryReader({ store: openRunStore(root) });
  return readTrajectories(reader, await reader.list({ stage }));
}
