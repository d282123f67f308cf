/** What tests came to. */
export interface Verdict {
  passed: number;
  tests: number;
  /** What failed, for a person: the first few. */
  reasons: string[];
}

/** What an answer may use. */
export interface JudgeLimits {
  /** Seconds for all calls or for one input, and those for everything. */
  time: number;
  total: number;
  /** MiB. */
  memory: number;
}
