import { join } from "node:path";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";

/** The paths of a run's folder; see docs/architecture.md for what each holds. */
export interface RunFolder {
  root: string;
  plan: string;
  run: string;
  metrics: string;
  report: string;
  database: string;
  /** The run's workflow code, bundled. */
  workflows: string;
  /** Who works on the run now. */
  session: string;
  store: string;
  log(name: string): string;
  policy(version: number): string;
  trainer(version: number): string;
  warmStart(step: number): { policy: string; state: string };
  evaluation(name: string): string;
  trajectory(place: Pick<TrajectoryPlace, "stage" | "task" | "sample">): string;
}

/** The folder of `run` under `runs`. Nothing is created. */
export function runFolder(runs: string, run: string): RunFolder {
  const root = join(runs, run);
  return {
    root,
    plan: join(root, "plan.json"),
    run: join(root, "run.json"),
    metrics: join(root, "metrics.jsonl"),
    report: join(root, "report.html"),
    database: join(root, "temporal.db"),
    workflows: join(root, "workflows.js"),
    session: join(root, "session.json"),
    store: join(root, "trajectories", "segments"),
    log: (name) => join(root, "logs", `${name}.log`),
    policy: (version) => join(root, "policies", `v${padded(version)}`),
    trainer: (version) => join(root, "trainer", `v${padded(version)}`),
    warmStart: (step) => ({
      policy: join(root, "warm-start", padded(step), "policy"),
      state: join(root, "warm-start", padded(step), "trainer"),
    }),
    evaluation: (name) => join(root, "evaluations", `${name}.json`),
    trajectory: ({ stage, task, sample }) => join(root, "trajectories", stage, task, String(sample)),
  };
}

function padded(value: number): string {
  return String(value).padStart(4, "0");
}
