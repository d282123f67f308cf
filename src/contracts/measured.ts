/** A mean over tasks with its 95 % interval. Without `low` and `high` there are too few tasks to say one. */
export interface Estimate {
  value: number;
  low?: number;
  high?: number;
}

/** What some tasks of an evaluation gave. */
export interface Measured {
  tasks: number;
  /** By name: `accuracy` (which is pass@1), `pass@4`, `maj@8`, `reward`. All but the reward are shares. */
  measures: Record<string, Estimate>;
}

/** What an evaluation measured, over all of its tasks, by their data source, and by their tags. */
export interface EvaluationNumbers extends Measured {
  bySource: Record<string, Measured>;
  byTag: Record<string, Measured>;
}
