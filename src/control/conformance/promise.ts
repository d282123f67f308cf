import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";

/** What a plugin promises Everturn; docs/plugins.md says each at length. */
export type PromiseName =
  | "manifest"
  | "loading"
  | "schema"
  | "answers"
  | "odd values"
  | "output"
  | "purity"
  | "retry"
  | "idempotency key"
  | "time-out"
  | "signal"
  | "cancellation"
  | "concurrency"
  | "release"
  | "reap"
  | "snapshot"
  | "replay"
  | "death of a worker"
  | "workflow code"
  | "turns"
  | "order"
  | "gradient"
  | "tokens"
  | "saving";

/** A promise of a plugin, which can be checked. */
export interface PluginCheck {
  /** For a test: the plugin, the promise and what it says. */
  name: string;
  promise: PromiseName;
  /** What is promised. */
  says: string;
  /** Where this one fails, the others say little. */
  isBasis: boolean;
  /** Throws PLUGIN_PROMISE_BROKEN: what was seen, and what to change. */
  run(): Promise<void>;
}

/** A promise that was broken: what was seen, and what to change. */
export class Broken extends Error {
  readonly advice: string;

  constructor(seen: string, advice: string, options?: ErrorOptions) {
    super(seen.replace(/\.$/, ""), options);
    this.advice = advice;
  }
}

/** What to change where a call failed, by the error's code. */
const advices: Partial<Record<string, string>> = {
  PLUGIN_BROKEN: "Correct the mistake there: in a run it ends the run.",
  TOOL_FAILED:
    "Answer { text, error: true } for what the model got wrong; throw only where what the tool depends on fails.",
  REWARD_FAILED: "Score every trajectory, also an empty or an odd answer; throw only where a judge fails.",
  TOOL_TIMED_OUT:
    "Answer sooner, or raise `timeout`; what the model can make slow needs a limit of its own below it.",
  REWARD_TIMED_OUT: "Score sooner, or raise `timeout`.",
  PLUGIN_THREAD_ENDED: "Leave the thread alone: no process.exit(), no error that nobody catches.",
  ONNX_GRAPH_INVALID:
    "Build it of `logProbabilities`, through which gradients flow, with what everturn/engine exports.",
  PLUGIN_ENTRY_FAILED: "Correct the module, or build it first: `npx everturn plugin build`.",
};

/** `doing` was tried and failed with `error`. */
export function brokenBy(doing: string, error: unknown): Broken {
  if (error instanceof Broken) return error;
  const options = { cause: error };
  if (!isEverturnError(error)) return new Broken(`${doing}: ${messageOf(error)}`, "Correct it.", options);
  const { code, help, params } = error;
  const said = help === "" ? error.message : error.message.slice(0, -help.length).trim();
  if (code === "PLUGIN_ANSWER_INVALID") {
    const advice = `Answer what was promised there: ${params.expected}.`;
    return new Broken(`${doing}: it answered ${params.given}`, advice, options);
  }
  return new Broken(`${doing}: ${said}`, advices[code] ?? help, options);
}

/** A check of `plugin`, of which `look` throws what it finds. */
export function pluginCheck(
  plugin: string,
  promise: PromiseName,
  says: string,
  look: () => Promise<void>,
  isBasis = false,
): PluginCheck {
  return {
    name: `${plugin}: ${promise}: ${says}`,
    promise,
    says,
    isBasis,
    run: async () => {
      try {
        await look();
      } catch (error) {
        if (isEverturnError(error) && error.code === "PLUGIN_CASE_INVALID") throw error;
        const { message: seen, advice, cause } = brokenBy("it failed", error);
        throw new EverturnError("PLUGIN_PROMISE_BROKEN", { plugin, promise, seen, advice }, { cause });
      }
    },
  };
}
