import { answers, loading, oddArguments, output, schema, timeOut } from "./answer-checks.ts";
import { cancellation, signal } from "./cancellation-checks.ts";
import { type PluginCheck, type PromiseName, pluginCheck } from "./promise.ts";
import { concurrency, death, idempotencyKey, retry } from "./repetition-checks.ts";
import { statefulChecks } from "./stateful-checks.ts";
import type { ToolSubject } from "./tool-subject.ts";

/** The promises of every tool, and those of a tool with state. */
export function toolChecks(subject: ToolSubject): PluginCheck[] {
  const { resolved } = subject;
  const check = (
    promise: PromiseName,
    says: string,
    look: (subject: ToolSubject) => Promise<void>,
    isBasis = false,
  ) => pluginCheck(resolved.name, promise, says, () => look(subject), isBasis);
  return [
    check("loading", "it loads in its own thread, with the functions in its manifest", loading, true),
    check("time-out", "each call returns within its time-out", timeOut, true),
    check("schema", "its schema accepts its own examples and defaults", schema),
    check("answers", "each case returns its expected answer", answers),
    check(
      "odd values",
      "it answers everything that the schema accepts: empty and huge values, non-ASCII text, control tokens",
      oddArguments,
    ),
    check("output", "an answer is well-formed text of a reasonable size", output),
    check("retry", "a repeated call with the same key returns the same answer", retry),
    check(
      "idempotency key",
      "the same key does its work once, and another key does it again",
      idempotencyKey,
    ),
    check("signal", "a call ends soon after its signal is aborted", signal),
    check(
      "cancellation",
      "after a canceled call, the next one returns the same answer as before",
      cancellation,
    ),
    check("concurrency", "concurrent calls return the same answers as single calls", concurrency),
    ...(resolved.manifest.tool?.stateful
      ? statefulChecks(subject)
      : [
          check(
            "death of a worker",
            "if the thread is killed between two calls, the next call returns the same answer",
            death,
          ),
        ]),
  ];
}
