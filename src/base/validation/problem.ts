import { EverturnError } from "../errors/everturn-error.ts";
import type { Place } from "./place.ts";
import { type Pointer, pathText } from "./pointer.ts";

/** Something wrong in a file. */
export interface Problem {
  readonly place: Place;
  readonly error: EverturnError;
}

/** A NUMBER_INEXACT problem for the number at a place, which is the value of a pointer. */
export function inexactNumberAt(place: Place, pointer: Pointer, number: string): Problem {
  const holder = heldBy(pointer);
  return { place, error: new EverturnError("NUMBER_INEXACT", { at: place.text, number, holder }) };
}

/** The key that holds a value, for messages: “ in extra_info.id”; "" for a whole document. */
export function heldBy(pointer: Pointer): string {
  return pointer === "" ? "" : ` in ${pathText(pointer)}`;
}

/** Combines a file's problems into one error, in the order of their places. Problems of `file` itself come first. */
export function refusal(file: string, problems: readonly Problem[]): EverturnError {
  const sorted = [...problems].sort(
    (a, b) =>
      Number(a.place.file !== file) - Number(b.place.file !== file) ||
      a.place.file.localeCompare(b.place.file) ||
      a.place.line - b.place.line ||
      a.place.column - b.place.column,
  );
  const errors = sorted.map(({ error }) => error);
  const messages = [...new Set(errors.map((error) => error.message))];
  const count = messages.length === 1 ? "1 problem" : `${messages.length} problems`;
  return new EverturnError(
    "WRONG_CONFIGURATION",
    { file, count, problems: messages.join("\n") },
    { problems: errors },
  );
}
