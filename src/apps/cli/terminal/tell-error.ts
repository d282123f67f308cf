import { inspect } from "node:util";
import { CommanderError } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { defined } from "../../../base/records/defined.ts";
import { knownError } from "../../../control/operations/known-error.ts";

/** What `--json` prints of an error. `problems` are the single ones where it stands for several. */
export interface ErrorLine {
  error: {
    /** Of the table in docs/errors.md. */
    code: string;
    /** What was wrong, where, and what to do. */
    message: string;
    /** What to do, by itself. */
    help: string;
    /** Whether trying the same thing again can succeed. */
    retryable: boolean;
    /** What the message was filled with, such as `at`: file:line:column. */
    params: Readonly<Record<string, string | number>>;
    problems?: ErrorLine["error"][];
  };
}

/** An error as `--json` prints it. */
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

/** Says on standard error what ended the command, and lets it end with 1. */
export function tellError(error: EverturnError): void {
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}

/**
 * Ends the command with what it threw: one line on standard error; with `--json` also one on standard output. What
 * nobody foresaw keeps its stack.
 */
export function endWith(thrown: unknown): void {
  const isJson = process.argv.includes("--json");
  if (thrown instanceof CommanderError) {
    process.exitCode = thrown.exitCode; // commander has said it, or it was --help
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
