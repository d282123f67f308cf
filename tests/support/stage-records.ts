import type { TrajectoryRecord } from "../../src/contracts/generated/trajectory.ts";
import { openRunStore } from "../../src/store/open-run-store.ts";
import { listTrajectories, readTrajectories } from "../../src/trajectory/trajectory-files.ts";

/** The records of a stage's trajectories that have finished, in order, in the run's folder `root`. */
export async function stageRecords(root: string, stage: string): Promise<TrajectoryRecord[]> {
  return readTrajectories(openRunStore(root), await listTrajectories({ root }, { stage }));
}
