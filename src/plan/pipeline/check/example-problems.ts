import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { type Pointer, pathText, valueAt } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import { wrongCombination } from "../read/wrong-combination.ts";

/**
 * Returns the conflicts between a pipeline's sft or dpo and its other settings: steps, training tasks,
 * rollouts.
 */
export function exampleProblems(document: SourceDocument): Problem[] {
  const has = (pointer: Pointer) => valueAt(document.value, pointer) !== undefined;
  const [own] = (["/sft", "/dpo"] as const).filter(has);
  const lacks = (pointer: Pointer, key: string, hint: string): Problem => {
    const place = placeOf(document, pointer, "value");
    const where = pointer === "" ? "the pipeline" : pathText(pointer);
    return { place, error: new EverturnError("MISSING_KEY", { at: place.text, where, key, hint }) };
  };
  const refused = (pointer: Pointer, reason: string, hint: string): Problem => {
    return wrongCombination(placeOf(document, pointer, "value"), pointer, reason, hint);
  };
  if (own === undefined) {
    const tasks = has("/dataset") && !has("/dataset/train");
    return [
      ...(has("/steps") ? [] : [lacks("", "steps", "How many steps to take, for example 40.")]),
      ...(tasks ? [lacks("/dataset", "train", "Tasks to train on.")] : []),
    ];
  }
  const name = pathText(own);
  const divided: Pointer = "/trainer/config/dataParallel";
  const epochs: Pointer = `${own}/epochs`;
  const staleness = valueAt(document.value, "/rollout/staleness");
  return [
    ...(has("/sft") && has("/dpo")
      ? [
          refused(
            "/dpo",
            "is there, and sft as well",
            "Make two pipelines, the second one's policy the first one's export.",
          ),
        ]
      : []),
    ...(has("/steps") || has(epochs)
      ? []
      : [lacks(own, "epochs", "Passes over the file, for example 3; or give the pipeline steps.")]),
    ...(typeof staleness === "number" && staleness > 0
      ? [refused("/rollout/staleness", `is ${staleness}, but ${name} trains without rollouts`, "Remove it.")]
      : []),
    ...(has("/trainer/loss")
      ? [refused("/trainer/loss", `is there, but ${name} has a loss of its own`, "Remove it.")]
      : []),
    ...(has(divided)
      ? [refused(divided, `is there, but one trainer computes each step of ${name}`, "Remove it.")]
      : []),
  ];
}
