import { join, resolve } from "node:path";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";

/** The paths in a run's folder. docs/run-folder.md describes them. */
export interface RunFolder {
  root: string;
  /** The file that makes the folder a run's. */
  run: string;
  metrics: string;
  report: string;
  database: string;
  /** The run's bundled workflow code, by build. */
  builds: string;
  /** `session.json`: the command that works on the run now. */
  holder: string;
  /** When the workers of a run with its own server began and stopped. */
  sessions: string;
  /** One line for each pause and resumption of a tool host. */
  hosts: string;
  /** Batches of steps whose loss or gradient was not finite. */
  failures: string;
  log(name: string): string;
  trajectory(place: Pick<TrajectoryPlace, "stage" | "task" | "sample">): string;
}

/** The names of renamed run folders, by the paths that they would have by id. */
const renamed = new Map<string, string>();

/** From now on the run `run` is in the folder `name` of `runs`. */
export function placeRun(runs: string, run: string, name: string): void {
  if (name === run) renamed.delete(resolve(runs, run));
  else renamed.set(resolve(runs, run), name);
}

/** The paths of `run` under `runs`: in the folder with its id, unless `placeRun` set another. It creates nothing. */
export function runFolder(runs: string, run: string): RunFolder {
  const root = join(runs, renamed.get(resolve(runs, run)) ?? run);
  return {
    root,
    run: join(root, "run.json"),
    metrics: join(root, "metrics.jsonl"),
    report: join(root, "report.html"),
    database: join(root, "temporal.db"),
    builds: join(root, "workflows"),
    holder: join(root, "session.json"),
    sessions: join(root, "sessions.jsonl"),
    hosts: join(root, "hosts.jsonl"),
    failures: join(root, "failures"),
    log: (name) => join(root, "logs", `${name}.log`),
    trajectory: ({ stage, task, sample }) => join(root, "trajectories", stage, task, String(sample)),
  };
}
