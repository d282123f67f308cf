import { appendFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../files/make-folder.ts";
import { readLines } from "../files/whole-files.ts";

/** A failed execution of a call: a line beside its place in the journal. */
export interface CallFailure {
  at: string;
  attempt: number;
  code: string;
  reason: string;
}

function fileOf(journal: string): string {
  return journal.replace(/\.json$/, "-failures.jsonl");
}

/**
 * The failed executions of the call with this journal file, until its budget was spent. They are counted here and not
 * by Temporal's attempts: a worker that died costs the tool nothing.
 */
export function callFailures(journal: string): Promise<CallFailure[]> {
  return readLines<CallFailure>(fileOf(journal));
}

/** Adds one. */
export function addCallFailure(journal: string, failure: CallFailure): void {
  const file = fileOf(journal);
  makeFolder(dirname(file));
  appendFileSync(file, `${JSON.stringify(failure)}\n`);
}

/** The budget is spent: should the trajectory be begun again, the call has a new one. */
export function clearCallFailures(journal: string): void {
  rmSync(fileOf(journal), { force: true });
}
