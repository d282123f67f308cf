import { createModelSession } from "../onnx/create-model-session.ts";
import { gradients } from "../onnx/gradients.ts";
import { createGraph } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import {
  actionCount,
  joined,
  type Objective,
  objectiveFeeds,
  objectiveInputShapes,
  type TrainingSample,
} from "./objective.ts";

/** An objective's results for some samples. */
export interface LossGradients {
  loss: number;
  /** The objective's terms by name. */
  terms: Record<string, number>;
  /** The gradient of the loss with respect to the log-probability of each action token, in order. */
  gradients: Float32Array;
}

/** An objective without a model: it reads log-probabilities that were computed elsewhere. */
export interface OpenObjective {
  /** `logProbabilities` are those of the samples' action tokens, in order. The results are sums over the samples. */
  run(
    samples: readonly TrainingSample[],
    scalars: Readonly<Record<string, number>>,
    logProbabilities: Float32Array,
  ): Promise<LossGradients>;
  close(): Promise<void>;
}

/**
 * Opens an objective as a model of its own on the CPU, whose input is `logProbabilities`. So a loss has one definition,
 * whether the model that it trains is here or on a server. The objective must not want values or entropies, which
 * log-probabilities don't determine. Throws ONNX_GRAPH_INVALID if it does.
 */
export async function openObjective(objective: Objective): Promise<OpenObjective> {
  const graph = createGraph();
  const logProbabilities = graph.input("logProbabilities", "float32", objectiveInputShapes.token);
  const inputs = new Map(
    Object.entries(objective.inputs).map(([name, kind]) => [
      name,
      graph.input(name, "float32", objectiveInputShapes[kind]),
    ]),
  );
  const { loss, terms } = objective.build({ logProbabilities }, (name) => inputs.get(name)!);
  const [gradient] = gradients(loss, [logProbabilities]);
  for (const [name, value] of Object.entries({ ...terms, loss })) graph.output(name, value);
  graph.output("gradients", gradient!);
  const session = await createModelSession(modelBytes(graph));
  const runPass = async (pass: Pass, scalars: Readonly<Record<string, number>>): Promise<LossGradients> => {
    const outputs = await session.run({
      logProbabilities: { shape: [pass.logProbabilities.length], data: pass.logProbabilities },
      ...objectiveFeeds(objective, pass.samples, scalars),
    });
    const number = (name: string) => outputs.floats(name)[0]!;
    const result = {
      loss: number("loss"),
      terms: Object.fromEntries(Object.keys(terms).map((name) => [name, number(name)])),
      gradients: outputs.floats("gradients").slice(),
    };
    outputs.release();
    return result;
  };
  return {
    async run(samples, scalars, given) {
      const parts: LossGradients[] = [];
      for (const pass of passesOf(samples, given)) parts.push(await runPass(pass, scalars));
      const sum = (of: (part: LossGradients) => number) => parts.reduce((total, part) => total + of(part), 0);
      return {
        loss: sum((part) => part.loss),
        terms: Object.fromEntries(Object.keys(terms).map((name) => [name, sum((part) => part.terms[name]!)])),
        gradients: joined(parts.map((part) => part.gradients)),
      };
    },
    close: () => session.close(),
  };
}

/** Some of the samples, and the log-probabilities of their action tokens. */
interface Pass {
  samples: TrainingSample[];
  logProbabilities: Float32Array;
}

/** The number of action tokens of a pass. It bounds the input `membership`, which has a row for each sample. */
const passActions = 2 ** 15;

/** Splits samples into passes, in order. A sample with more action tokens is a pass of its own. */
function passesOf(samples: readonly TrainingSample[], logProbabilities: Float32Array): Pass[] {
  const passes: Pass[] = [];
  let end = 0;
  let room = 0;
  let start = 0;
  for (const sample of samples) {
    const actions = sample.sequences.reduce((sum, one) => sum + actionCount(one), 0);
    room -= actions;
    if (room < 0 || passes.length === 0) {
      start = end;
      room = passActions - actions;
      passes.push({ samples: [], logProbabilities: new Float32Array() });
    }
    end += actions;
    const pass = passes.at(-1)!;
    pass.samples.push(sample);
    pass.logProbabilities = logProbabilities.subarray(start, end);
  }
  return passes;
}
