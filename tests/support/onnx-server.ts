import { join } from "node:path";
import {
  EverturnError,
  freshTrainerState,
  readModelConfig,
  readWeights,
  type TrainerState,
} from "everturn/engine";
import type { ServerDatum } from "../../plugins/trainer-tinker/exact-data.ts";
import { profiles } from "../../plugins/trainer-tinker/profiles.ts";
import type { ModelServer, ServerModel } from "../../plugins/trainer-tinker/server-model.ts";
import type { TrainingSample } from "../../src/engine/learning/objective.ts";
import { supervisedObjective } from "../../src/engine/learning/supervised-objective.ts";
import { createTrainingEngine, type OpenTrainingEngine } from "../../src/engine/learning/training-engine.ts";
import { copyTrainerState } from "./copy-trainer-state.ts";

/** A server in this process that trains all weights of a policy. It computes as `skyrl-torch` does. */
export interface OnnxServer extends ModelServer {
  /** Its checkpoints by path. */
  readonly checkpoints: Map<string, TrainerState>;
}

/** Creates a server whose base model is the policy in a folder. Its optimizer is that of `trainer-onnx` by default. */
export async function onnxServer(folder: string): Promise<OnnxServer> {
  const config = await readModelConfig(join(folder, "config.json"));
  const weights = await readWeights(folder);
  const checkpoints = new Map<string, TrainerState>();
  const engines: OpenTrainingEngine[] = [];

  const serve = (state: TrainerState): ServerModel => {
    const engine = createTrainingEngine({
      config,
      state,
      gradientClip: 1,
      weightDecay: 0,
      betas: [0.9, 0.95],
    });
    engines.push(engine);
    const id = `model_${engines.length}`;
    let lastNumber = 0;
    let samples: TrainingSample[] = [];
    const forward = async (data: readonly ServerDatum[]) => {
      lastNumber++;
      const scores = await engine.score(data.map(sequenceOf), "policy");
      return scores.map(({ logProbabilities }) => logProbabilities);
    };
    return {
      id,
      get lastNumber() {
        return lastNumber;
      },
      forward,
      async forwardBackward(data, loss) {
        if (loss !== "cross_entropy") throw new EverturnError("TINKER_REQUEST_REFUSED", { reason: loss });
        const logprobs = await forward(data);
        for (const datum of data) {
          const { weights: column = new Float32Array() } = datum.columns;
          samples.push({ sequences: [sequenceOf(datum)], columns: { weights: column } });
        }
        return { logprobs, metrics: {} };
      },
      customBackward: () => Promise.reject(new Error("only Hatchery has custom steps")),
      async optimStep({ learningRate }) {
        lastNumber++;
        const request = { objective: supervisedObjective, samples, scalars: {}, learningRate };
        samples = [];
        const { gradientNorm } = await engine.update(request);
        return { [profiles["skyrl-torch"].gradientNorm!]: gradientNorm };
      },
      async save(name) {
        lastNumber++;
        const path = `tinker://${id}/weights/${name}`;
        checkpoints.set(path, copyTrainerState(state));
        return path;
      },
      unload: () => engine.close(),
    };
  };

  return {
    checkpoints,
    create: async () => serve(copyTrainerState(freshTrainerState({ config }, weights))),
    async load(path, optimizer) {
      const saved = copyTrainerState(checkpoints.get(path)!);
      return serve(optimizer ? saved : freshTrainerState({ config }, saved.weights));
    },
    download: () => Promise.reject(new Error("this server has no adapters")),
    async close() {
      for (const engine of engines) await engine.close();
    },
  };
}

function sequenceOf({ inputs, targets }: ServerDatum) {
  return { tokens: [...inputs, targets.at(-1)!], mask: [0, ...targets.map(() => 1)] };
}
