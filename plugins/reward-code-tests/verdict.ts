/** What tests came to. */
export interface Verdict {
  passed: number;
  tests: number;
  /** What failed, for a person: the first few. */
  reasons: string[];
}
