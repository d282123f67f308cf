import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";

/** The promises of plugins; docs/plugins.md explains each. */
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

/** A check of one promise of a plugin. */
export interface PluginCheck {
  /** A test's title: the plugin, the promise and its text. */
  name: string;
  promise: PromiseName;
  /** The promise as a sentence. */
  says: string;
  /** If this check fails, the others are not meaningful. */
  isBasis: boolean;
  /** Throws PLUGIN_PROMISE_BROKEN, with the observed behavior and the change to make. */
  run(): Promise<void>;
}

/** A broken promise: the observed behavior, and the change to make. */
export class Broken extends Error {
  readonly advice: string;

  constructor(seen: string, advice: string, options?: ErrorOptions) {
    super(seen.replace(/\.$/, ""), options);
    this.advice = advice;
  }
}

/** The advice for a failed call, by the error's code. */
const advices: Partial<Record<string, string>> = {
  PLUGIN_BROKEN: "Correct the error: it would end a run.",
  TOOL_FAILED:
    "Return { text, error: true } for the model's mistakes; throw only if something that the tool depends on fails.",
  REWARD_FAILED: "Score every trajectory, even with an empty or odd answer; throw only if a judge fails.",
  TOOL_TIMED_OUT:
    "Answer sooner, or raise `timeout`. Work that the model can slow down needs its own, lower limit.",
  REWARD_TIMED_OUT: "Score sooner, or raise `timeout`.",
  PLUGIN_THREAD_ENDED: "Don't end the thread: no process.exit(), no uncaught errors.",
  ONNX_GRAPH_INVALID:
    "Build it from `logProbabilities`, through which gradients flow, with the functions that everturn/engine exports.",
  PLUGIN_ENTRY_FAILED: "Correct the module, or build it first: `npx everturn plugin build`.",
};

/** The broken promise that `doing` failed with `error`. */
export function brokenBy(doing: string, error: unknown): Broken {
  if (error instanceof Broken) return error;
  const options = { cause: error };
  if (!isEverturnError(error)) return new Broken(`${doing}: ${messageOf(error)}`, "Correct it.", options);
  const { code, help, params } = error;
  const said = help === "" ? error.message : error.message.slice(0, -help.length).trim();
  if (code === "PLUGIN_ANSWER_INVALID") {
    const advice = `Return the promised value: ${params.expected}.`;
    return new Broken(`${doing}: it returned ${params.given}`, advice, options);
  }
  return new Broken(`${doing}: ${said}`, advices[code] ?? help, options);
}

/** Creates a check of `plugin`. `look` throws its findings. */
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
