import { type ErrorCode, type ErrorEntry, errorTable } from "./table.ts";

type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/** The parameters a code needs: one for each `{placeholder}` of its message and help. */
export type ErrorParams<Code extends ErrorCode> = Record<
  Placeholder<(typeof errorTable)[Code]["message"] | (typeof errorTable)[Code]["help"]>,
  string | number
>;

/** Marks an error of the table across realms and copies of this module. */
export const everturnMarker = Symbol.for("everturn.error");

function fill(template: string, params: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}

/**
 * An error from table.ts. `message` states what is wrong, where, and what to do. `help` is only the last part.
 * `problems` lists the single errors that this error summarizes.
 */
export class EverturnError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly params: Readonly<Record<string, string | number>>;
  readonly retryable: boolean;
  readonly help: string;
  readonly problems: readonly EverturnError[];

  constructor(
    code: Code,
    params: ErrorParams<Code>,
    options: { cause?: unknown; problems?: readonly EverturnError[] } = {},
  ) {
    const entry: ErrorEntry = errorTable[code];
    const help = fill(entry.help, params);
    const message = fill(entry.message, params);
    const separator = message.includes("\n") ? "\n" : " ";
    super(
      help === "" ? message : message + separator + help,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = "EverturnError";
    this.code = code;
    this.params = params;
    this.retryable = entry.retryable;
    this.help = help;
    this.problems = options.problems ?? [];
    Object.defineProperty(this, everturnMarker, { value: true });
  }
}

/** Whether `error` is an EverturnError, even one from another realm or another copy of the module. */
export function isEverturnError(error: unknown): error is EverturnError {
  return typeof error === "object" && error !== null && everturnMarker in error;
}
