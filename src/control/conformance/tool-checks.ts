import { answers, loading, oddArguments, output, schema, timeOut } from "./answer-checks.ts";
import { cancellation, signal } from "./cancellation-checks.ts";
import { type PluginCheck, type PromiseName, pluginCheck } from "./promise.ts";
import { concurrency, death, idempotencyKey, retry } from "./repetition-checks.ts";
import { statefulChecks } from "./stateful-checks.ts";
import type { ToolSubject } from "./tool-subject.ts";

/** What every tool promises, and what one with state does. */
export function toolChecks(subject: ToolSubject): PluginCheck[] {
  const { resolved } = subject;
  const check = (
    promise: PromiseName,
    says: string,
    look: (subject: ToolSubject) => Promise<void>,
    isBasis = false,
  ) => pluginCheck(resolved.name, promise, says, () => look(subject), isBasis);
  return [
    check(
      "loading",
      "it loads in a thread of its own, with the functions that its manifest promises",
      loading,
      true,
    ),
    check("time-out", "each call is answered within its time-out", timeOut, true),
    check("schema", "its schema lets through what it gives as examples and defaults", schema),
    check("answers", "each case is answered as it says", answers),
    check(
      "odd values",
      "whatever the schema lets through is answered: empty, huge, beyond ASCII, control tokens",
      oddArguments,
    ),
    check("output", "an answer is well-formed text of a size that can be kept", output),
    check("retry", "a call that is made again with the same key is answered alike", retry),
    check("idempotency key", "a key does its work once, and another key does it again", idempotencyKey),
    check("signal", "a call ends soon after its signal is aborted", signal),
    check("cancellation", "after a cancelled call the next one is answered as ever", cancellation),
    check("concurrency", "calls at once are answered as calls alone", concurrency),
    ...(resolved.manifest.tool?.stateful
      ? statefulChecks(subject)
      : [
          check(
            "death of a worker",
            "between any two calls the thread may be killed, and the next call is answered as ever",
            death,
          ),
        ]),
  ];
}
