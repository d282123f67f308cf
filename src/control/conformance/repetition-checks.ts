import { alone, differ, eachAlone, steady } from "./called-alone.ts";
import { Broken } from "./promise.ts";
import { answerText, callText, newKey, sequenceOf, type ToolSubject, withTool } from "./tool-subject.ts";

/** The least number of concurrent calls. */
const atOnce = 8;

/** Checks that a repeated call with the same key gets the same answer. */
export async function retry(subject: ToolSubject): Promise<void> {
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
        "repeated with the same key",
        "Compute the answer only from the arguments and the configuration: no clock, no random numbers, no state in the module. If the answer must vary, mark the case with `varies: true`.",
      );
    }
  });
}

/** Checks that a key does its work once, and that another key does it again. */
export async function idempotencyKey(subject: ToolSubject): Promise<void> {
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
  // Simulates a worker that was killed after the tool's answer but before the journal: its thread is gone.
  const again = await made({ key, attempt: 2 });
  const twice = await subject.effects();
  if (once !== twice) {
    const advice =
      "Pass `key` to the service that the tool changes, and do nothing if that service already knows the key.";
    throw new Broken(`${callText(one)} was repeated with the same key and did its work twice`, advice);
  }
  if (one.varies !== true)
    differ(
      one,
      first,
      again,
      "repeated with the same key in another worker",
      "Store the answer for each key together with the tool's work, and return the stored answer.",
    );
  const other = await made({ key: newKey(), attempt: 1 });
  const advice = "Distinguish calls by `key`: the model may intend the same call twice.";
  if (untouched !== once && (await subject.effects()) === twice)
    throw new Broken(`${callText(one)} with another key did nothing`, advice);
  if (one.varies !== true && untouched === once) differ(one, first, other, "made with another key", advice);
}

/** Checks that concurrent calls get the same answers as separate ones. */
export async function concurrency(subject: ToolSubject): Promise<void> {
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
        `made together with ${all.length - 1} others`,
        "Keep no state of a call in the module: calls of all trajectories use it concurrently. Or set `concurrency: 1`.",
      );
  });
}

/** Checks that a tool's thread may be killed between any two calls without changing the next answer. */
export async function death(subject: ToolSubject): Promise<void> {
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
        `made in a new thread after the thread with the previous ${index} calls died`,
        "Keep no state in the module between calls. A tool that must remember something needs state (`create`), with `recovery: snapshot` or `replay`.",
      );
  }
}
