import { join, resolve } from "node:path";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";

/** The paths in a run's folder. docs/run-folder.md describes them. */
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

/** The names of folders that are not named as their runs are, by the paths that they would have. */
const renamed = new Map<string, string>();

/** From here on the run `run` lies in the folder `name` of `runs`. */
export function placeRun(runs: string, run: string, name: string): void {
  if (name === run) renamed.delete(resolve(runs, run));
  else renamed.set(resolve(runs, run), name);
}

/** The folder of `run` under `runs`, under its own name unless `placeRun` gave another. Nothing is created. */
export function runFolder(runs: string, run: string): RunFolder {
  const root = join(runs, renamed.get(resolve(runs, run)) ?? run);
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
