import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Place } from "../../../base/validation/place.ts";
import { type Pointer, pathText } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";

/** A value at `pointer`, told at `place`, that does not go with another: `reason` follows its name, `hint` says what to do. */
export function wrongCombination(place: Place, pointer: Pointer, reason: string, hint: string): Problem {
  const params = { at: place.text, where: pathText(pointer), reason, hint };
  return { place, error: new EverturnError("WRONG_COMBINATION", params) };
}
