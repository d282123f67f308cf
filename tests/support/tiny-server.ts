import { EverturnError } from "everturn/engine";
import type { ServerDatum } from "../../plugins/trainer-tinker/exact-data.ts";
import type { Reduction } from "../../plugins/trainer-tinker/profiles.ts";
import type { ModelServer, ServerModel } from "../../plugins/trainer-tinker/server-model.ts";
import {
  derivativesOf,
  type TinyModel,
  type TinyState,
  tinyModel,
  withoutMoments,
} from "./tinker-arithmetic.ts";

/** How a tiny server computes. */
export interface TinyServerOptions {
  vocabulary: number;
  reduction: Reduction;
  /** The name of the norm among the metrics of an optimizer step. Absent: it returns none. */
  gradientNorm?: string;
  /** Whether it clips gradients. Default: true. */
  clips?: boolean;
  /** Settings of its loss `ppo`, whatever a call says. Default: the call's. */
  ppo?: Readonly<Record<string, number>>;
  /** Whether a model's later checkpoints repeat its first one. Default: false. */
  savesOnce?: boolean;
  /** Multiplies each gradient, for a server whose arithmetic is wrong. Default: 1. */
  factor?: number;
}

/** A server in this process, with a real model of a few weights. It computes as published servers do. */
export interface TinyServer extends ModelServer {
  /** Its checkpoints, which survive `forget`. */
  readonly checkpoints: Map<string, TinyState>;
  /** The calls of all models: "model_1: optim_step 3". */
  readonly calls: string[];
  /** The tokens of all calls, by the calls' names. */
  readonly tokens: Record<string, number>;
  /** Loses all models, like a server process that restarts. */
  forget(): void;
  /** Called before each call. A test may throw here, or call `forget`. */
  before?: (call: string) => void;
}

/** Creates a server without models. */
export function tinyServer(options: TinyServerOptions): TinyServer {
  const { vocabulary, reduction, gradientNorm, clips = true, savesOnce = false, factor = 1 } = options;
  const checkpoints = new Map<string, TinyState>();
  const calls: string[] = [];
  const tokens: Record<string, number> = {};
  let known = new Set<string>();
  let models = 0;

  const server: TinyServer = {
    checkpoints,
    calls,
    tokens,
    forget: () => {
      known = new Set();
    },
    create: async () => serve(tinyModel(vocabulary)),
    load: async (path, optimizer) => {
      const saved = checkpoints.get(path);
      if (!saved) throw new EverturnError("TINKER_REQUEST_REFUSED", { reason: `there is no ${path}` });
      return serve(tinyModel(vocabulary, optimizer ? saved : withoutMoments(saved)), path);
    },
    download: () => Promise.reject(new Error("this server has no adapters")),
    close: async () => {},
  };

  function serve(model: TinyModel, loaded?: string): ServerModel {
    const id = `model_${++models}`;
    known.add(id);
    let lastNumber = 0;
    let sequences = 0;
    let saved: TinyState | undefined;
    const counted = (name: string, data: readonly ServerDatum[] = []) => {
      const call = `${id}: ${name} ${++lastNumber}`;
      server.before?.(call);
      if (!known.has(id)) throw new EverturnError("TINKER_MODEL_LOST", { reason: `${id} is not loaded` });
      calls.push(call);
      const own = data.reduce((sum, { inputs }) => sum + inputs.length, 0);
      tokens[name] = (tokens[name] ?? 0) + own;
    };
    const log = ({ inputs, targets }: ServerDatum) => model.forward(inputs, targets);
    const add = (data: readonly ServerDatum[], derivatives: readonly ArrayLike<number>[]) => {
      sequences += data.length;
      data.forEach(({ inputs, targets }, index) => {
        const scaled = Float64Array.from(derivatives[index]!, (value) => factor * value);
        model.add(inputs, targets, scaled);
      });
    };
    return {
      id,
      loaded,
      get lastNumber() {
        return lastNumber;
      },
      async forward(data) {
        counted("forward", data);
        return data.map((datum) => Float32Array.from(log(datum)));
      },
      async forwardBackward(data, loss, config) {
        counted("forward_backward", data);
        const received = data.map((datum) => ({ columns: datum.columns, logProbabilities: log(datum) }));
        add(data, derivativesOf(reduction, loss, received, options.ppo ?? config));
        return {
          logprobs: received.map(({ logProbabilities }) => Float32Array.from(logProbabilities)),
          metrics: {},
        };
      },
      async customBackward(data, gradients) {
        counted("custom_backward", data);
        add(data, gradients);
        const surrogate = data.map((datum, index) => {
          return log(datum).reduce((sum, value, at) => sum + value * gradients[index]![at]!, 0);
        });
        return { surrogate: surrogate.reduce((sum, value) => sum + value, 0) };
      },
      async optimStep({ gradientClip, ...numbers }) {
        counted("optim_step");
        const clipped = clips && gradientClip !== undefined ? { ...numbers, gradientClip } : numbers;
        const norm = model.step(clipped, reduction === "sequence-mean" ? Math.max(1, sequences) : 1);
        sequences = 0;
        return gradientNorm === undefined ? {} : { [gradientNorm]: norm };
      },
      async save(name) {
        counted("save_weights");
        const path = `tinker://${id}/weights/${name}`;
        saved = savesOnce && saved !== undefined ? saved : model.state();
        checkpoints.set(path, saved);
        return path;
      },
      async unload() {
        known.delete(id);
      },
    };
  }

  return server;
}
