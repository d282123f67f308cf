import type { EvaluationRecord } from "../../src/contracts/run.ts";

/** A record that this version has been evaluated, so that a training workflow does not evaluate it. */
export function evaluated(policyVersion: number): EvaluationRecord {
  return {
    name: "",
    step: 0,
    policyVersion,
    accuracy: 0,
    tasks: 0,
    leftOut: 0,
    toolCallRate: 0,
    meanActionTokens: 0,
    seconds: 0,
  };
}
