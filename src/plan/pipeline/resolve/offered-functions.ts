import { suggestion } from "../../../base/validation/nearest.ts";
import { child, type Pointer } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { FunctionUse } from "../../../contracts/generated/pipeline.ts";
import type { OfferedFunction } from "../../../contracts/plan.ts";
import { schemaProblems } from "../../../plugin/registry/schema-problems.ts";
import { wrongCombination } from "../read/wrong-combination.ts";

/** A pipeline's settings for a tool's functions: which ones it offers, and with which changes. */
export interface Offer {
  /** The pipeline's name for the tool. It is also the function's name if the tool has a single function. */
  name: string | undefined;
  uses: readonly FunctionUse[] | undefined;
  document: SourceDocument;
  /** The place of `uses`. */
  pointer: Pointer;
}

/**
 * Returns a tool's `own` functions as the policy sees them, with those for loops, and the problems in the pipeline's
 * settings for them.
 */
export function offeredFunctions(
  own: readonly OfferedFunction[],
  { name, uses, document, pointer }: Offer,
): { functions: OfferedFunction[]; problems: Problem[] } {
  const [only] = own;
  const called = own.length === 1 ? name : undefined;
  if (uses === undefined && (called === undefined || only === undefined))
    return { functions: [...own], problems: [] };
  const functions: OfferedFunction[] = [];
  const problems: Problem[] = [];
  for (const [index, use] of (uses ?? [{ function: only?.name ?? "" }]).entries()) {
    const at = child(pointer, index);
    const found = own.find((one) => one.name === use.function);
    if (found === undefined) {
      const names = own.map((one) => one.name);
      problems.push(unknownFunction(document, child(at, "function"), use.function, names));
      continue;
    }
    if (use.parameters !== undefined)
      problems.push(...schemaProblems(use.parameters, document, child(at, "parameters")));
    functions.push({
      ...found,
      name: use.name ?? called ?? found.name,
      description: use.description ?? found.description,
      parameters: use.parameters ?? found.parameters,
      own: { name: found.name, parameters: found.parameters },
    });
  }
  const named = functions.map((one) => one.own?.name);
  const forLoops = own.filter((one) => one.forLoops === true && !named.includes(one.name));
  return { functions: [...functions, ...forLoops], problems };
}

function unknownFunction(
  document: SourceDocument,
  pointer: Pointer,
  name: string,
  names: readonly string[],
): Problem {
  const place = placeOf(document, pointer, "value");
  const reason = `names “${name}”, a function that the tool does not have`;
  const hint = suggestion(name, names, "Its functions");
  return wrongCombination(place, pointer, reason, hint);
}
