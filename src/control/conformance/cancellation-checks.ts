import { EverturnError } from "../../base/errors/everturn-error.ts";
import { pluginThread } from "../../plugin/host/plugin-thread.ts";
import { alone, differ, eachAlone } from "./called-alone.ts";
import { Broken } from "./promise.ts";
import {
  begun,
  callText,
  creationOf,
  grace,
  isDoneWithin,
  newKey,
  type ToolSubject,
  withTool,
} from "./tool-subject.ts";

/** Checks that a call ends soon after its signal aborts. */
export async function signal(subject: ToolSubject): Promise<void> {
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
        function: subject.functionOf(one),
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
        "Pass `signal` on: fetch(url, { signal }), spawn(…, { signal }), setTimeout of node:timers/promises. In a long computation, check signal.aborted, or run it in a process.";
      throw new Broken(
        `${callText(one)} continued for more than ${grace / 1000} s after its signal was aborted`,
        advice,
      );
    }
  } finally {
    await thread.close();
  }
}

/** Checks that the call after a cancelled one is answered as usual. */
export async function cancellation(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const expected = await eachAlone(subject, called);
    for (const [index, one] of subject.cases.entries()) {
      const instance = `check/cancelled-${index}`;
      const state = await called.create(instance);
      const controller = new AbortController();
      const cancelled = called.call(one, { instance, state, signal: controller.signal });
      await begun();
      controller.abort(new Error("the trajectory was cancelled"));
      await cancelled.catch(() => {}); // its cancellation is expected
      const advice =
        "Release in `finally` everything that a call holds (a lock, a place in line, a connection): it can be aborted at any await.";
      const after = await alone(called, one, `check/after-${index}`).catch((error: unknown) => {
        throw new Broken(`after a canceled call, ${error instanceof Error ? error.message : error}`, advice, {
          cause: error,
        });
      });
      if (one.varies !== true) differ(one, expected[index] ?? "", after, "after a canceled call", advice);
    }
  });
}
