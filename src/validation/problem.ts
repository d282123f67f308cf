import { EverturnError } from "../errors/everturn-error.ts";
import type { Place } from "./place.ts";

/** Something wrong in a file. */
export interface Problem {
  readonly place: Place;
  readonly error: EverturnError;
}

/** Makes one error of a file's problems, in the order in which they stand. Problems of `file` itself come first. */
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
