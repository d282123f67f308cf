import { join } from "node:path";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";

/** The paths of a run's folder; see docs/architecture.md for what each holds. */
export interface RunFolder {
  root: string;
  /** It makes the folder a run's. */
  run: string;
  metrics: string;
  report: string;
  database: string;
  /** The run's workflow code, bundled, by build. */
  builds: string;
  /** Who works on the run now. */
  session: string;
  /** A line for each time a tool's host was paused or resumed. */
  hosts: string;
  /** Batches of steps whose loss or gradient was not finite. */
  failures: string;
  log(name: string): string;
  trajectory(place: Pick<TrajectoryPlace, "stage" | "task" | "sample">): string;
}

/** The folder of `run` under `runs`. Nothing is created. */
export function runFolder(runs: string, run: string): RunFolder {
  const root = join(runs, run);
  return {
    root,
    run: join(root, "run.json"),
    metrics: join(root, "metrics.jsonl"),
    report: join(root, "report.html"),
    database: join(root, "temporal.db"),
    builds: join(root, "workflows"),
    session: join(root, "session.json"),
    hosts: join(root, "hosts.jsonl"),
    failures: join(root, "failures"),
    log: (name) => join(root, "logs", `${name}.log`),
    trajectory: ({ stage, task, sample }) => join(root, "trajectories", stage, task, String(sample)),
  };
}
