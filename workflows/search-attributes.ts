import { defineSearchAttributeKey, TypedSearchAttributes } from "@temporalio/common";
import { upsertSearchAttributes } from "@temporalio/workflow";
import type { SearchAttributeName } from "../src/contracts/run.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";

const name = (attribute: SearchAttributeName) => attribute;
const run = defineSearchAttributeKey(name("EverturnRun"), "KEYWORD");
const stage = defineSearchAttributeKey(name("EverturnStage"), "KEYWORD");
const step = defineSearchAttributeKey(name("EverturnStep"), "INT");
const policyVersion = defineSearchAttributeKey(name("EverturnPolicyVersion"), "INT");
const outcome = defineSearchAttributeKey(name("EverturnOutcome"), "KEYWORD");
const reward = defineSearchAttributeKey(name("EverturnReward"), "DOUBLE");
const tools = defineSearchAttributeKey(name("EverturnTools"), "KEYWORD_LIST");
const waiting = defineSearchAttributeKey(name("EverturnWaiting"), "KEYWORD");

/** The attributes for finding a step or an evaluation. */
export function stageAttributes(place: { run: string; stage: string; step: number; policyVersion: number }) {
  return new TypedSearchAttributes([
    { key: run, value: place.run },
    { key: stage, value: place.stage },
    { key: step, value: place.step },
    { key: policyVersion, value: place.policyVersion },
  ]);
}

/**
 * Adds a trajectory's outcome, reward and used tools at its end. Tool names that the model made up are not
 * included.
 */
export function describeEnd(result: TrajectoryResult, toolsUsed: string[]): void {
  upsertSearchAttributes([
    { key: outcome, value: result.outcome },
    { key: reward, value: result.reward },
    { key: tools, value: toolsUsed },
  ]);
}

/** Sets what a live trajectory needs from a person, or null if it waits for nobody. */
export function describeWaiting(reason: "approval" | "answer" | "paused" | null): void {
  upsertSearchAttributes([{ key: waiting, value: reason }]);
}
