import { defined } from "../../base/records/defined.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import { unwrittenToken } from "../models/config/vision-config.ts";
import { type AttentionForm, decoderForward, hasPrefix } from "../models/graph/decoder.ts";
import { headWeight, languageModelHead } from "../models/graph/decoder-blocks.ts";
import { decoderInputs } from "../models/graph/decoder-inputs.ts";
import { rotaryTables } from "../models/graph/rotary-tables.ts";
import { modelWeightShapes, weightInputs } from "../models/weights/model-weights.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import type { FrozenBase } from "../models/weights/weight-sources.ts";
import { add, div, mul } from "../onnx/elementwise.ts";
import { type GradientWithRows, gradients, gradientsWithRows } from "../onnx/gradients.ts";
import { createGraph, type FloatValue, type Graph, type Value } from "../onnx/graph.ts";
import { linear } from "../onnx/linear-algebra.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { reshape } from "../onnx/shaping.ts";
import type { Target } from "../onnx/target.ts";
import { tiledLength } from "../onnx/tiled-attention.ts";
import { tokenDistribution } from "../onnx/token-distribution.ts";
import { vocabularyDistribution } from "../onnx/vocabulary-distribution.ts";
import { valueHeadPrefix } from "./learning-rates.ts";
import { adapterShapes, decoderAdapter, type LoraSettings } from "./lora.ts";
import { type Objective, objectiveInputShapes, type PolicyOutputs } from "./objective.ts";

/** A policy to train: all weights of a model, or an adapter for it. */
export interface TrainedModel {
  config: ModelConfig;
  lora?: LoraSettings;
  /** Whether the vision part is trained too. Default: false. */
  trainsVision?: boolean;
  /** Frozen matrices under an adapter, quantized or in half precision. */
  base?: FrozenBase;
  /** Whether it is a critic, which returns values and has no language-model head. */
  critic?: boolean;
  /**
   * Whether gradients keep only each layer's input and recompute the layer, or the number of first layers to recompute.
   * Default: false.
   */
  recompute?: boolean | number;
  /** Default "kept". */
  attention?: AttentionForm;
  /** Whether gradients are added to the inputs named by `sumName`, on the CPU. Default: false. */
  adds?: boolean;
}

/** Returns the number of recomputed layers. */
export function recomputedLayers(
  { num_hidden_layers }: ModelConfig,
  recompute: TrainedModel["recompute"] = false,
): number {
  return typeof recompute === "number" ? recompute : recompute ? num_hidden_layers : 0;
}

/** Returns the name of the output with the gradient of a parameter. */
export function gradientName(parameter: string): string {
  return `gradient/${parameter}`;
}

/** The output with the gradients of the images' embeddings. */
export const imagesGradient = gradientName("images");

/** Returns the name of the input that a parameter's gradient is added to. Its memory may be that of the output. */
export function sumName(parameter: string): string {
  return `sum/${parameter}`;
}

/** Returns the outputs of a training model that are written over the inputs that they are added to. */
export function summedOutputs({ inputs, outputs }: Graph): ReadonlySet<Value> {
  const fed = new Set(inputs.map(({ name }) => name));
  const sums = [...outputs].filter(([name]) => fed.has(name.replace(gradientName(""), sumName(""))));
  return new Set(sums.map(([, value]) => value));
}

/** Returns the shapes of the value head's weights: one linear map of the final normed hidden state. */
export function valueHeadShapes(config: ModelConfig): Map<string, number[]> {
  return new Map([
    [`${valueHeadPrefix}weight`, [1, config.hidden_size]],
    [`${valueHeadPrefix}bias`, [1]],
  ]);
}

/**
 * Returns the shapes of the model's own weights, including those of a vision part that is trained. A critic lacks the
 * language-model head, unless it is the embedding.
 */
export function trainedWeightShapes(model: TrainedModel): Map<string, number[]> {
  const vision = model.trainsVision ? visionWeightShapes(model.config) : [];
  return new Map([...languageWeightShapes(model), ...vision]);
}

function languageWeightShapes({ config, critic }: TrainedModel): Map<string, number[]> {
  const shapes = modelWeightShapes(config);
  if (critic) shapes.delete("lm_head.weight");
  return shapes;
}

/**
 * The largest vocabulary whose logits are computed whole. In parts they are computed twice if the head is trained,
 * which adds a third to the head's products. Capped logits (Gemma 2) are always whole.
 */
export const frozenWhole = 8192;
const trainedWhole = 65_536;

interface PolicyGraph {
  graph: Graph;
  reads: string[];
  /** Trained parameters by name. */
  trained: Map<string, FloatValue>;
  /** The embeddings of images, if the vision part is trained. */
  images: FloatValue | undefined;
  outputs: PolicyOutputs;
}

/**
 * Builds the graph of a policy. Its inputs are those of a TokenBatch, the inverse temperature, and weights by their
 * names. Adds values and entropies if requested.
 */
function policyGraph(
  trained: TrainedModel,
  wants: Objective["wants"] & { gradients: boolean },
  { device = "cpu", precision = "float32" }: Target,
): PolicyGraph {
  const { config, lora, base, critic, trainsVision, recompute, attention = "kept" } = trained;
  const graph = createGraph();
  const isFed = ([name]: [string, unknown]) => !base?.frozen.has(name);
  const weights = weightInputs(graph, new Map([...languageWeightShapes(trained)].filter(isFed)));
  const matrices = lora && weightInputs(graph, adapterShapes(config, lora));
  const valueHead = weightInputs(graph, wants.values ? valueHeadShapes(config) : new Map());
  const model = defined<Parameters<typeof decoderForward>[0]>({
    config,
    weights,
    frozen: base?.frozen,
    tables: rotaryTables(graph, config),
    onProcessor: device === "cpu" && precision === "float32",
    adapter: lora && matrices && decoderAdapter(lora, matrices),
  });
  const length = attention === "tiled" ? tiledLength : undefined;
  const inputs = decoderInputs(graph, config, length, hasPrefix(attention));
  const hidden = decoderForward(model, inputs, {
    recomputed: recomputedLayers(config, recompute),
    attention,
  });
  const targets = graph.input("targets", "int64", ["actions"]);
  const inverse = graph.input("inverseTemperature", "float32", []);
  const isCapped = config.final_logit_softcapping !== null;
  const largestWhole = lora || !wants.gradients ? frozenWhole : trainedWhole;
  // Dividing hidden states is cheaper, but a cap on the logits needs them undivided.
  const distribution = () => {
    if (isCapped) return tokenDistribution(mul(languageModelHead(model, hidden), inverse), targets);
    const tempered = mul(hidden, inverse);
    return config.vocab_size <= largestWhole
      ? tokenDistribution(languageModelHead(model, tempered), targets)
      : vocabularyDistribution(tempered, headWeight(model), targets, wants, unwrittenToken(config));
  };
  const said = critic ? undefined : distribution();
  const [valueWeight, valueBias] = [...valueHead.values()];
  return {
    graph,
    reads: [weights, matrices ?? new Map(), valueHead].flatMap((parameters) => [...parameters.keys()]),
    trained: new Map([...(matrices ?? weights), ...valueHead]),
    images: trainsVision ? inputs.images?.embeddings : undefined,
    outputs: defined({
      logProbabilities: said?.logProbabilities,
      entropies: wants.entropies && said?.entropies ? said.entropies : undefined,
      values: valueWeight && reshape(linear(hidden, valueWeight, valueBias), ["actions"]),
    }),
  };
}

/** A model, and the trainer's parameters that it reads. */
export interface PolicyModel {
  graph: Graph;
  /** Built at each access, because plans look at graphs that nobody runs. */
  readonly bytes: Uint8Array;
  /** Weights, matrices of the adapter, and the value head if it is used. */
  reads: string[];
}

/** Returns a model that computes `logProbabilities` (and `values`) of the action tokens, without gradients. */
export function scoringModel(
  model: TrainedModel,
  wants: { values: boolean },
  target: Target = {},
): PolicyModel {
  const wanted = { ...wants, entropies: false, gradients: false };
  const { graph, reads, outputs } = policyGraph(model, wanted, target);
  giveLogProbabilities(graph, outputs);
  if (outputs.values) graph.output("values", outputs.values);
  return {
    graph,
    get bytes() {
      return modelBytes(graph, target);
    },
    reads,
  };
}

/** A model that computes gradients. */
export interface TrainingModel extends PolicyModel {
  /** The names of the scalars that it returns in addition to the loss. */
  terms: string[];
  /** The parameters whose gradients it returns. */
  trains: string[];
  /**
   * On the CPU, rows of tables that must still be added to the gradients. The input `numbers` [count] contains the row
   * numbers, and the output contains the rows.
   */
  rows: { parameter: string; numbers: string; output: string }[];
  /** Whether it returns log-probabilities. A critic returns only values. */
  logProbabilities: boolean;
}

/**
 * Returns a model that computes an objective's `loss`, its terms by name, `logProbabilities` of the action tokens, and
 * the gradients of all trained parameters outside the vision part. If that is trained, it also returns the gradients of
 * the images' embeddings. In float16 it also reads `lossScale`. It multiplies the loss with that in
 * the backward pass and divides the gradients by it.
 */
export function trainingModel(model: TrainedModel, objective: Objective, target: Target = {}): TrainingModel {
  const { graph, reads, trained, images, outputs } = policyGraph(
    model,
    { ...objective.wants, gradients: true },
    target,
  );
  const inputs = new Map(
    Object.entries(objective.inputs).map(([name, kind]) => [
      name,
      graph.input(name, "float32", objectiveInputShapes[kind]),
    ]),
  );
  const { loss, terms } = objective.build(outputs, (name) => inputs.get(name)!);
  for (const [name, value] of Object.entries({ ...terms, loss })) graph.output(name, value);
  const logProbabilities = giveLogProbabilities(graph, outputs);
  const scale = target.precision === "float16" ? graph.input("lossScale", "float32", []) : undefined;
  const inverse = scale && div(1, scale);
  const unscaled = (value: FloatValue) => (inverse ? mul(value, inverse) : value);
  const trains = [...trained.keys()];
  const sums = new Map(
    Array.from(model.adds ? trained : [], ([name, parameter]) => {
      return [parameter, graph.input(sumName(name), "float32", parameter.shape)];
    }),
  );
  const finish = (gradient: FloatValue, parameter: FloatValue) => {
    const sum = sums.get(parameter);
    return sum ? add(sum, gradient) : gradient;
  };
  const { device = "cpu" } = target;
  const gradientsOf = device === "cpu" ? gradientsWithRows : wholeGradients;
  const found = gradientsOf(
    scale ? mul(loss, scale) : loss,
    [...trained.values(), ...(images ? [images] : [])],
    ...(model.adds ? [finish] : []),
  );
  const rowOutputs = trains.flatMap((parameter, index) => {
    const { gradient, rows } = found[index]!;
    graph.output(gradientName(parameter), unscaled(gradient));
    return rows.map(({ numbers, updates }, part) => {
      const output = `${gradientName(parameter)}/rows/${part}`;
      graph.output(output, unscaled(updates));
      return { parameter, numbers: numbers.name, output };
    });
  });
  if (images) graph.output(imagesGradient, unscaled(found.at(-1)!.gradient));
  const names = { reads, terms: Object.keys(terms), trains, rows: rowOutputs };
  return {
    graph,
    get bytes() {
      return modelBytes(graph, target);
    },
    ...names,
    logProbabilities,
  };
}

function wholeGradients(loss: FloatValue, parameters: readonly FloatValue[]): GradientWithRows[] {
  return gradients(loss, parameters).map((gradient) => ({ gradient, rows: [] }));
}

function giveLogProbabilities(graph: Graph, { logProbabilities }: PolicyOutputs): boolean {
  if (logProbabilities) graph.output("logProbabilities", logProbabilities);
  return logProbabilities !== undefined;
}
