import { inspect } from "node:util";
import { CommanderError } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { defined } from "../../../base/records/defined.ts";
import { knownError } from "../../../control/operations/known-error.ts";

/** An error in the form of `--json`. `problems` contains the single ones that it summarizes. */
export interface ErrorLine {
  error: {
    /** A code of the table in docs/errors.md. */
    code: string;
    /** What is wrong, where, and what to do. */
    message: string;
    /** What to do, separately. */
    help: string;
    /** Whether the same attempt can succeed later. */
    retryable: boolean;
    /** The values in the message, such as `at`: file:line:column. */
    params: Readonly<Record<string, string | number>>;
    problems?: ErrorLine["error"][];
  };
}

/** Converts an error to the form of `--json`. */
export function errorLine({ code, message, help, retryable, params, problems }: EverturnError): ErrorLine {
  const parts = problems.map((problem) => errorLine(problem).error);
  return {
    error: defined({
      code,
      message,
      help,
      retryable,
      params,
      problems: parts.length === 0 ? undefined : parts,
    }),
  };
}

/** Reports on standard error the error that ended the command, and sets exit code 1. */
export function tellError(error: EverturnError): void {
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}

/**
 * Ends the command with the error that it threw: one line on standard error, and with `--json` another one on
 * standard output. Unexpected errors keep their stack.
 */
export function endWith(thrown: unknown): void {
  const isJson = process.argv.includes("--json");
  if (thrown instanceof CommanderError) {
    process.exitCode = thrown.exitCode; // commander has reported it, or it was --help
    if (isJson && thrown.exitCode !== 0) print(invalidCommand(thrown));
    return;
  }
  const known = knownError(thrown);
  if (known !== undefined) {
    tellError(known);
    if (isJson) print(known);
    return;
  }
  if (isJson) print(new EverturnError("UNEXPECTED", { reason: messageOf(thrown).replace(/\.$/, "") }));
  process.stderr.write(`${inspect(thrown)}\n`);
  process.exit(1);
}

function print(error: EverturnError): void {
  process.stdout.write(`${JSON.stringify(errorLine(error))}\n`);
}

function invalidCommand({ message }: CommanderError): EverturnError {
  const reason = message.replace(/^error: /, "").replace(/\.$/, "");
  return new EverturnError("COMMAND_INVALID", { reason });
}
