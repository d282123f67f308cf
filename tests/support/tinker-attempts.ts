import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TrainerFolders } from "everturn/engine";
import { onTestFinished } from "vitest";
import plugin from "../../plugins/trainer-tinker/index.ts";
import { type ServedName, serveArithmetic } from "./served-arithmetic.ts";
import { stateOf } from "./tinker-server/arithmetic-model.ts";
import type { ServedCall, TinkerServerOptions } from "./tinker-server.ts";
import { writeTinyPolicy } from "./tiny-policy.ts";
import { trajectories } from "./training-batch.ts";

/** Updates of a step. */
export const updates = 2;

/** Attempts at steps of `trainer-tinker` on a small server with real arithmetic, whose versions lie in `folder`. */
export async function tinkerAttempts(folder: string) {
  const at = (name: string) => join(folder, name);
  const initial = at("v0000");
  const vocabulary = await writeTinyPolicy(initial);

  /** Starts a server until the test is over. `hook` sees each request first, and may break its connection. */
  const started = async (
    name: ServedName,
    hook: (call: ServedCall) => "before" | "after" | undefined = () => undefined,
    options: Partial<TinkerServerOptions> = {},
  ) => {
    const { server, states } = await serveArithmetic(name, vocabulary, { fault: hook, ...options });
    onTestFinished(() => server.stop());
    const opened = (folders: Partial<TrainerFolders> = {}) => {
      const config = {
        server: name,
        url: server.url,
        baseModel: "tiny",
        warmupSteps: 1,
        learningRate: 0.01,
        minibatchSize: 2,
      };
      return plugin.open({ initial, policy: initial, ...folders }, config, 1);
    };
    /** The history, the weights and the optimizer's state of a saved version. */
    const saved = (version: string) => {
      const { path } = JSON.parse(readFileSync(join(at(`${version}-policy`), "tinker.json"), "utf8"));
      const { history } = server.checkpoints.get(path)!;
      return { history, state: stateOf(states, history) };
    };
    return { server, opened, saved };
  };

  type Started = Awaited<ReturnType<typeof started>>;

  /** One attempt at a step, from one version to another. `onOpened` is called after the probe. */
  const attempt = async ({ opened }: Started, to: string, from?: string, onOpened = () => {}) => {
    const folders = from === undefined ? {} : { policy: at(`${from}-policy`), state: at(`${from}-state`) };
    const trainer = await opened(folders);
    try {
      onOpened();
      const metrics = await trainer.policyGradientStep(trajectories, { temperature: 1 });
      await trainer.save(at(`${to}-policy`), at(`${to}-state`));
      return metrics;
    } finally {
      await trainer.close();
    }
  };

  return { initial, at, started, attempt };
}

/** A small server, and how to train on it. */
export type StartedServer = Awaited<ReturnType<Awaited<ReturnType<typeof tinkerAttempts>>["started"]>>;
