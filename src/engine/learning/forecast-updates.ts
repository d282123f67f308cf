import { availableMemory } from "../../base/processes/available-memory.ts";
import { defined } from "../../base/records/defined.ts";
import type { ModelOutline } from "../../contracts/policy.ts";
import type { UpdateForecast, UpdateSize, UpdateWay } from "../../contracts/trainer.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import { modelWeightShapes } from "../models/weights/model-weights.ts";
import { blockFormat } from "../models/weights/quantize.ts";
import { type FrozenBase, smallBase } from "../models/weights/weight-sources.ts";
import { elementCount } from "../onnx/element-count.ts";
import type { FrozenMatrix } from "../onnx/frozen-matrix.ts";
import type { Graph } from "../onnx/graph.ts";
import type { TokenSequence } from "./batch.ts";
import { type HeldMemory, mappedBytes } from "./held-memory.ts";
import { adapterShapes, type LoraSettings } from "./lora.ts";
import type { Objective, TrainingSample } from "./objective.ts";
import { momentBytes } from "./optimizer-state.ts";
import { policyObjective } from "./policy-objective.ts";
import { preferenceObjective } from "./preference-objective.ts";
import { plannedBytes, type StepPlan, splitText } from "./step-plan.ts";
import { createStepPlanner, type PlannerOptions } from "./step-planner.ts";
import { supervisedObjective } from "./supervised-objective.ts";
import { type TrainedModel, trainedWeightShapes, trainingModel, valueHeadShapes } from "./training-graphs.ts";
import { hasCritic, objectiveSettings, type TrainingSettings } from "./training-settings.ts";

/** The model to train, without its weights. */
export interface ForecastOptions
  extends Pick<PlannerOptions, "maxTokensPerRun" | "recompute" | "memory" | "sharesGradients" | "available"> {
  config: ModelConfig;
  /** The stored format of its matrices. */
  matrices: ModelOutline["matrices"];
  lora?: LoraSettings;
  /** Whether the vision part is trained. */
  trainsVision?: boolean;
  settings: TrainingSettings;
  /** Bits per number of the moments. */
  optimizerBits: 8 | 32;
}

/**
 * Forecasts the memory of updates by a fresh trainer on the CPU in float32. Assumes that no two sequences begin alike
 * and that all tokens but the first are trained. The result matches the trainer's plan, except that blocks of a GGUF
 * file may also have minimums. Allocates nothing of the weights' size.
 */
export function forecastUpdates(options: ForecastOptions, sizes: readonly UpdateSize[]): UpdateForecast[] {
  const { config, lora, trainsVision, settings, available = availableMemory } = options;
  const base = lora && frozenBase(options);
  const trained: TrainedModel = defined({ config, lora, base, trainsVision });
  const held = forecastMemory(trained, options);
  const left = () => available() - held.weights;
  const planner = createStepPlanner({ ...options, ...trained, available: left }, () => held);
  const graphs = new Map<string, Graph>();
  const graphOf =
    (of: UpdateSize["of"]) => (recompute: number, attention: AttentionForm, isSummed: boolean) => {
      const adds = isSummed && !lora && options.optimizerBits === 32; // as in `gradientRooms`
      const key = [of, recompute, attention, adds].join();
      const model = { ...trained, recompute, attention, adds };
      const graph = graphs.get(key) ?? trainingModel(model, objectiveOf(of, settings)).graph;
      graphs.set(key, graph);
      return graph;
    };
  const room = planner.room();
  return sizes.map((size) => {
    const [samples, graph] = [samplesOf(size, config), graphOf(size.of)];
    const { plan, needed } = planner.choose(samples, graph, room);
    const usual = wayOf(plan);
    if (needed > room) return { ...size, least: usual };
    const last = wayOf(planner.choose(samples, graph).plan);
    return { ...size, usual, least: last.bytes < usual.bytes ? last : usual }; // tiny models have large graphs
  });
}

function objectiveOf(of: UpdateSize["of"], settings: TrainingSettings): Objective {
  if (of === "pairs") return preferenceObjective({});
  return of === "demonstrations" ? supervisedObjective : policyObjective(objectiveSettings(settings));
}

function wayOf(plan: StepPlan): UpdateWay {
  const { weights, optimizer, gradients, activations, process } = plan;
  const parts = { weights, optimizer, gradients, activations, process };
  return { bytes: plannedBytes(plan), parts, text: splitText(plan) };
}

function samplesOf({ of, count, tokens }: UpdateSize, config: ModelConfig): TrainingSample[] {
  const sequences = of === "pairs" ? 2 : 1;
  return Array.from({ length: count }, (_, at) => ({
    sequences: Array.from({ length: sequences }, (_sequence, one) =>
      sequenceOf(at * sequences + one, tokens, config),
    ),
    columns: {},
  }));
}

/** Returns a sequence of this length. Sequences with other numbers begin with another token. */
function sequenceOf(number: number, tokens: number, { vocab_size }: ModelConfig): TokenSequence {
  const ids = new Array<number>(tokens).fill(0);
  ids[0] = number % vocab_size;
  const mask = ids.map((_, at) => (at === 0 ? 0 : 1));
  return { tokens: ids, mask };
}

/** Returns the matrices that stay in files under an adapter, like `readFrozenWeights`. */
function frozenBase({ config, matrices }: ForecastOptions): FrozenBase | undefined {
  if (matrices === "float32") return undefined;
  const nowhere = { file: "", offset: 0 };
  const frozen = new Map<string, FrozenMatrix>();
  const isHalf = matrices === "float16" || matrices === "bfloat16";
  for (const [name, shape] of modelWeightShapes(config)) {
    const format = isHalf ? undefined : blockFormat(name, shape, matrices);
    if (format) frozen.set(name, { shape, ...format, values: nowhere, scales: nowhere });
    if (isHalf && shape.length === 2) frozen.set(name, { shape, type: matrices, values: nowhere });
  }
  const base = { folder: "", frozen };
  return isHalf && mappedBytes(base) < smallBase ? undefined : base;
}

function forecastMemory(trained: TrainedModel, { settings, optimizerBits }: ForecastOptions): HeldMemory {
  const { config, lora, base } = trained;
  const plain = (model: TrainedModel) =>
    new Map([...trainedWeightShapes(model)].filter(([name]) => !base?.frozen.has(name)));
  const sum = (shapes: Iterable<[string, number[]]>, of: (name: string, count: number) => number) =>
    Array.from(shapes, ([name, shape]) => of(name, elementCount(shape))).reduce((a, b) => a + b, 0);
  const floats = (_: string, count: number) => 4 * count;
  const adapter = lora && adapterShapes(config, lora);
  const heads = valueHeadShapes(config);
  const parametersOf = (model: TrainedModel) => [...(adapter ?? plain(model)), ...heads];
  const all = [
    parametersOf(trained),
    ...(hasCritic(settings) ? [parametersOf({ ...trained, critic: true })] : []),
  ];
  const moments = (name: string, count: number) => momentBytes(name, count, optimizerBits);
  const optimizer = all.reduce((total, parameters) => total + sum(parameters, moments), 0);
  return {
    trained: sum(parametersOf(trained), floats),
    weights:
      all.reduce((total, parameters) => total + sum(parameters, floats), 0) +
      (adapter ? sum(plain(trained), floats) : 0) +
      mappedBytes(base),
    optimizer,
    untouched: sum(parametersOf(trained), moments),
  };
}
