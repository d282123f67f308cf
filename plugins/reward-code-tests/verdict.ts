/** The result of tests. */
export interface Verdict {
  passed: number;
  tests: number;
  /** The first few failures, described for people. */
  reasons: string[];
}

/** The limits of an answer. */
export interface JudgeLimits {
  /** Seconds for all calls or for one input, and seconds in total. */
  time: number;
  total: number;
  /** MiB. */
  memory: number;
}
