import { defineSearchAttributeKey, TypedSearchAttributes } from "@temporalio/common";
import type { SearchAttributeName } from "../../contracts/run.ts";
import type { TrajectoryInput } from "../../contracts/trajectory.ts";

/** The search attributes for finding a trajectory from its start. */
export function startAttributes({
  place,
  policyVersion,
}: Pick<TrajectoryInput, "place" | "policyVersion">): TypedSearchAttributes {
  return new TypedSearchAttributes([
    keyword("EverturnRun", place.run),
    keyword("EverturnStage", place.stage),
    integer("EverturnStep", place.step),
    integer("EverturnPolicyVersion", policyVersion),
    keyword("EverturnTask", place.task),
  ]);
}

function keyword(name: SearchAttributeName, value: string) {
  return { key: defineSearchAttributeKey(name, "KEYWORD"), value };
}

function integer(name: SearchAttributeName, value: number) {
  return { key: defineSearchAttributeKey(name, "INT"), value };
}
