/** A mean over tasks with its 95 % interval. `low` and `high` are absent if there are too few tasks. */
export interface Estimate {
  value: number;
  low?: number;
  high?: number;
}

/** The measurements of some tasks of an evaluation. */
export interface Measured {
  tasks: number;
  /** By name: `accuracy` (pass@1), `pass@4`, `maj@8`, `reward`. All but the reward are shares. */
  measures: Record<string, Estimate>;
}

/** The measurements of an evaluation over all of its tasks, by data source, and by tag. */
export interface EvaluationNumbers extends Measured {
  bySource: Record<string, Measured>;
  byTag: Record<string, Measured>;
}
