import { isObject } from "../contracts/json.ts";
import type { ToolResponse } from "../contracts/tool.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { argumentsValidator } from "../plugins/validate-arguments.ts";
import { pluginThread } from "../threads/plugin-thread.ts";
import type { ToolCase } from "./cases.ts";
import { Broken, type PluginCheck, type PromiseName, pluginCheck } from "./promise.ts";
import { statefulChecks } from "./stateful-checks.ts";
import {
  answerText,
  begun,
  type CalledTool,
  callText,
  creationOf,
  grace,
  isDoneWithin,
  newKey,
  sequenceOf,
  shortened,
  type ToolSubject,
  withTool,
} from "./tool-subject.ts";

/** A longer answer crosses threads and is kept for nothing: an observation is cut at 8,000 characters. */
const longestAnswer = 2 ** 20;

/** So many calls at once at least. */
const atOnce = 8;

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

async function loading(subject: ToolSubject): Promise<void> {
  await withTool(subject, async () => {});
}

/** Calls each case alone, on an instance of its own where there is state. */
async function eachAlone(subject: ToolSubject, called: CalledTool, cases = subject.cases): Promise<string[]> {
  const answers: string[] = [];
  for (const [index, one] of cases.entries()) answers.push(await alone(called, one, `check/alone-${index}`));
  return answers;
}

async function alone(called: CalledTool, one: ToolCase, instance: string): Promise<string> {
  return answerText(await answered(called, one, instance));
}

async function answered(
  { create, call, tool }: CalledTool,
  one: ToolCase,
  instance: string,
): Promise<ToolResponse> {
  const state = await create(instance);
  const answer = await call(one, { instance, state });
  if (tool.isStateful) await tool.plugin.release?.(state);
  return answer;
}

async function timeOut(subject: ToolSubject): Promise<void> {
  await withTool(subject, (called) => eachAlone(subject, called).then(() => {}));
}

async function schema({ resolved }: ToolSubject): Promise<void> {
  const { parameters = {} } = resolved.manifest.tool ?? {};
  const problem = argumentsValidator(parameters);
  for (const example of Array.isArray(parameters.examples) ? parameters.examples : []) {
    const wrong = isObject(example) ? problem(example) : "an example is an object of arguments.";
    if (wrong === undefined) continue;
    throw new Broken(
      `its example ${JSON.stringify(example)} is refused: ${wrong}`,
      "Correct the example, or the schema.",
    );
  }
  const { properties, required } = parameters;
  for (const [key, one] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(one) || one.default === undefined) continue;
    const wrong = argumentsValidator({ type: "object", properties: { [key]: one } })({ [key]: one.default });
    if (wrong === undefined) continue;
    throw new Broken(`the default of “${key}” is refused: ${wrong}`, "Correct the default, or the schema.");
  }
  for (const key of Array.isArray(required) ? required.map(String) : []) {
    if (isObject(properties) && key in properties) continue;
    throw new Broken(
      `“${key}” is required and has no schema`,
      "Describe it in `properties`, or take it from `required`.",
    );
  }
}

async function answers(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const state = await called.create();
    for (const one of subject.cases) {
      const { text, error = false } = await called.call(one, { state });
      const seen = `${callText(one)} was answered ${JSON.stringify(shortened(text))}`;
      if (one.text !== undefined && text !== one.text)
        throw new Broken(
          `${seen}, and not ${JSON.stringify(shortened(one.text))}`,
          "Correct the tool, or the case.",
        );
      if (one.error !== undefined && error !== one.error)
        throw new Broken(
          `${seen}, with error: ${error}`,
          `Mark it with error: ${one.error}, or correct the case.`,
        );
    }
  });
}

async function oddArguments(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    for (const [index, one] of subject.odd.entries()) await alone(called, one, `check/odd-${index}`);
  });
}

async function output(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    for (const [index, one] of [...subject.cases, ...subject.odd].entries()) {
      const { text } = await answered(called, one, `check/output-${index}`);
      const given = JSON.stringify(one.arguments);
      if (!text.isWellFormed() && given.isWellFormed()) {
        const advice = "Cut texts between code points ([...text].slice(…)), never in the middle of one.";
        throw new Broken(`${callText(one)} was answered with half a character (a lone surrogate)`, advice);
      }
      if (text.includes("\ufffd") && !given.includes("\ufffd")) {
        const advice = "Bytes that are no text are told otherwise: their number, their type, or base64.";
        throw new Broken(
          `${callText(one)} was answered with U+FFFD: bytes that are no text were decoded as text`,
          advice,
        );
      }
      if (text.length > longestAnswer && given.length * 2 < text.length) {
        const advice =
          "Cut it in the tool, and say so in the text: an observation is cut at 8,000 characters.";
        throw new Broken(`${callText(one)} was answered with ${text.length} characters`, advice);
      }
    }
  });
}

async function retry(subject: ToolSubject): Promise<void> {
  await withTool(subject, async ({ call, create, tool }) => {
    for (const [index, one] of steady(subject).entries()) {
      const key = newKey();
      const attempt = async (number: number) => {
        const instance = `check/retry-${index}-${tool.isStateful ? number : 0}`;
        const state = await create(instance);
        return answerText(await call(one, { instance, key, attempt: number, state }));
      };
      differ(
        one,
        await attempt(1),
        await attempt(2),
        "made again with the same key",
        "Answer from the arguments and the configuration alone: no clock, no random numbers, nothing kept in the module. Where the answer has to vary, say so in the case: `varies: true`.",
      );
    }
  });
}

function steady({ cases }: ToolSubject): ToolCase[] {
  return cases.filter(({ varies }) => varies !== true);
}

/** Throws if a call was answered in another way than before. */
function differ(one: ToolCase, before: string, after: string, when: string, advice: string): void {
  if (before === after) return;
  throw new Broken(
    `${callText(one)}, ${when}, was answered ${shortened(after)}, and before ${shortened(before)}`,
    advice,
  );
}

async function idempotencyKey(subject: ToolSubject): Promise<void> {
  const [one] = subject.cases;
  if (one === undefined) return;
  const key = newKey();
  const made = (how: { key: string; attempt: number }) =>
    withTool(subject, async ({ call, create }) =>
      answerText(await call(one, { ...how, state: await create() })),
    );
  const untouched = await subject.effects();
  const first = await made({ key, attempt: 1 });
  const once = await subject.effects();
  // A worker that was killed between the tool's answer and the journal: its thread is gone.
  const again = await made({ key, attempt: 2 });
  const twice = await subject.effects();
  if (once !== twice) {
    const advice =
      "Hand `key` on to whatever the tool changes, and do nothing if that knows the key already.";
    throw new Broken(`${callText(one)} was made again with the same key, and did its work twice`, advice);
  }
  if (one.varies !== true)
    differ(
      one,
      first,
      again,
      "made again with the same key in another worker",
      "Keep what a key was answered where the tool keeps its work, and answer it again.",
    );
  const other = await made({ key: newKey(), attempt: 1 });
  const advice = "Tell calls apart by `key`: the model may mean the same call twice.";
  if (untouched !== once && (await subject.effects()) === twice)
    throw new Broken(`${callText(one)} with another key did nothing`, advice);
  if (one.varies !== true && untouched === once) differ(one, first, other, "made with another key", advice);
}

async function signal(subject: ToolSubject): Promise<void> {
  const { resolved, name, cases } = subject;
  const limit = Math.max(resolved.timeout, grace * 2);
  const errors = {
    timedOut: () => new EverturnError("TOOL_TIMED_OUT", { tool: name, seconds: limit / 1000 }),
    failed: (reason: string, cause: unknown) =>
      new EverturnError("TOOL_FAILED", { tool: name, reason }, { cause }),
  };
  const thread = pluginThread({ kind: "tool", plugin: resolved, limit, errors, log: () => {} });
  try {
    const functions = await thread.functions();
    for (const one of cases) {
      const creation = creationOf(subject, "check/signal");
      const { hold, signal: unaborted, ...plain } = creation;
      const instance = functions.has("create")
        ? await thread.make("create", plain, { signal: unaborted, hold })
        : undefined;
      const controller = new AbortController();
      const over = Promise.withResolvers<void>();
      const execution = {
        instance: "check/signal",
        key: newKey(),
        attempt: 1,
        config: resolved.config,
        isReplay: false,
      };
      const request = { parameters: one.arguments, execution };
      const options = { signal: controller.signal, onOver: over.resolve };
      const answer =
        instance === undefined
          ? thread.ask("execute", { ...request, state: undefined }, options)
          : thread.askOf("execute", instance, (state) => ({ ...request, state }), options);
      answer.catch(() => {}); // nobody waits for it
      await begun();
      controller.abort(errors.timedOut());
      if (await isDoneWithin(over.promise, grace)) continue;
      const advice =
        "Pass `signal` on (fetch(url, { signal }), spawn(…, { signal }), setTimeout of node:timers/promises); what computes for long looks at signal.aborted, or belongs in a process.";
      throw new Broken(
        `${callText(one)} went on for more than ${grace / 1000} s after its signal was aborted`,
        advice,
      );
    }
  } finally {
    await thread.close();
  }
}

async function cancellation(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const expected = await eachAlone(subject, called);
    for (const [index, one] of subject.cases.entries()) {
      const instance = `check/cancelled-${index}`;
      const state = await called.create(instance);
      const controller = new AbortController();
      const cancelled = called.call(one, { instance, state, signal: controller.signal });
      await begun();
      controller.abort(new Error("the trajectory was cancelled"));
      await cancelled.catch(() => {}); // as it was asked to
      const advice =
        "Undo in `finally` what a call takes for itself (a lock, a place in line, a connection): it may be aborted at any await.";
      const after = await alone(called, one, `check/after-${index}`).catch((error: unknown) => {
        throw new Broken(
          `after a call that was cancelled, ${error instanceof Error ? error.message : error}`,
          advice,
          { cause: error },
        );
      });
      if (one.varies !== true)
        differ(one, expected[index] ?? "", after, "made after one that was cancelled", advice);
    }
  });
}

async function concurrency(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const cases = steady(subject);
    if (cases.length === 0) return;
    const rounds = Math.ceil(atOnce / cases.length);
    const all = Array.from({ length: rounds }, () => cases).flat();
    const expected = await eachAlone(subject, called, cases);
    const { slots } = called.tool;
    const together = await Promise.all(
      all.map(async (one, index) => {
        const giveBack = await slots?.take(new AbortController().signal);
        return alone(called, one, `check/together-${index}`).finally(giveBack);
      }),
    );
    for (const [index, one] of all.entries())
      differ(
        one,
        expected[index % cases.length] ?? "",
        together[index] ?? "",
        `made with ${all.length - 1} others at once`,
        "Keep nothing of a call in the module: calls of all trajectories go through it at once. Or say `concurrency: 1`.",
      );
  });
}

async function death(subject: ToolSubject): Promise<void> {
  const sequence = sequenceOf(subject);
  const expected = await withTool(subject, async ({ call }) => {
    const answers: string[] = [];
    for (const one of sequence) answers.push(answerText(await call(one)));
    return answers;
  });
  for (const [index, one] of sequence.entries()) {
    const answer = await withTool(subject, async ({ call }) => answerText(await call(one)));
    if (one.varies !== true)
      differ(
        one,
        expected[index] ?? "",
        answer,
        `made in a new thread after the death of the one with the ${index} calls before`,
        "Keep nothing in the module between calls: a tool that has to remember is stateful (`create`), with `recovery: snapshot` or `replay`.",
      );
  }
}
