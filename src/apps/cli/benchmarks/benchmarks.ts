import type { Benchmark } from "./benchmark.ts";
import { humaneval, mbpp } from "./code.ts";
import { bfcl } from "./function-calls.ts";
import { aime, gsm8k, math } from "./math.ts";
import { searchQa, textToSql } from "./questions.ts";

/** The available benchmarks by name. */
export const benchmarks: Readonly<Record<string, Benchmark>> = {
  gsm8k,
  math,
  aime,
  humaneval,
  mbpp,
  bfcl,
  "search-qa": searchQa,
  "text-to-sql": textToSql,
};
