import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Place } from "../../../base/validation/place.ts";
import { type Pointer, pathText } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";

/**
 * Reports a value at `pointer` that conflicts with another setting. The message shows `place`. `reason`
 * follows the value's name, and `hint` suggests a fix.
 */
export function wrongCombination(place: Place, pointer: Pointer, reason: string, hint: string): Problem {
  const params = { at: place.text, where: pathText(pointer), reason, hint };
  return { place, error: new EverturnError("WRONG_COMBINATION", params) };
}
