import type { Device } from "../devices/device.ts";
import type { AttentionForm } from "../models/decoder.ts";
import type { FrozenBase } from "../models/weight-sources.ts";
import { frozenBytes } from "../onnx/frozen-matrix.ts";
import type { Graph } from "../onnx/graph.ts";
import { createMemoryRoom } from "./memory-room.ts";
import type { TrainingSample } from "./objective.ts";
import { runSplits, runTokens } from "./run-splits.ts";
import { type ChosenRuns, chooseRuns, plannedBytes, type StepPlan } from "./step-plan.ts";
import { parametersOf, type TrainerState, trainedParameters } from "./trainer-state.ts";
import { frozenWhole, recomputedLayers, type TrainedModel } from "./training-graphs.ts";

/** What a process with Node and the runtime holds, without a model. */
const processBytes = 200e6;

/**
 * What nodes of a graph take, here and in the runtime's session, with what its allocator wastes on activations: measured at
 * Qwen2.5-0.5B's shape, 6,586 nodes. In a mixture of experts, that of 90,000, each takes 11 kB.
 */
const nodesBytes = (nodes: number) => 60e3 * Math.min(nodes, 10_000) + 11e3 * Math.max(0, nodes - 10_000);

/** How much of what is available an update may be planned to hold. */
const plannedShare = 0.8;

/** What the updates of a trainer are planned by. */
export interface PlannerOptions extends Pick<TrainedModel, "config" | "base"> {
  /** Of a run, at most. Default: chosen. */
  maxTokensPerRun?: number;
  /** Whether layers are computed again, or how many. Default: chosen on the CPU, else none. */
  recompute?: boolean | number;
  /** Bytes that the process may hold while it trains on the CPU; default: four fifths of what is available here. */
  memory?: number;
  device?: Device;
  /** Bytes that nobody has taken of the memory that runs use; default: of this process's. */
  available?: () => number;
  /** Of the policy, where this is its critic: it is in the process as well, as a state's critic is. */
  beside?: TrainerState;
  /** Is told what an update will hold, before it begins: of the first one, and where another holds clearly more or is computed otherwise. */
  onPlan?: (plan: StepPlan) => void;
}

/** Decides how updates are split into runs. */
export interface StepPlanner {
  /** `graph` gives the graph that computes so many layers again; `isSummed`: for one of several runs. Throws TRAINING_MEMORY_SHORT if nothing fits; not of WebGPU, whose memory isn't known. */
  plan(
    samples: readonly TrainingSample[],
    graph: (recomputed: number, attention: AttentionForm, isSummed: boolean) => Graph,
  ): ChosenRuns;
}

/** A planner for a trainer's state, which has been checked. */
export function createStepPlanner(options: PlannerOptions, state: TrainerState): StepPlanner {
  const { config, base, maxTokensPerRun, recompute, device = "cpu", onPlan, available } = options;
  const memory = device === "cpu" ? options.memory : undefined;
  const trainedBytes = byteLength(trainedParameters(state).values());
  /** What is there whatever an update does; an adapter's critic and policy share their base. */
  const held = () => {
    const other = options.beside ?? state.critic;
    const states = other ? [state, other] : [state];
    const arrays = new Set(
      states.flatMap((one) => Array.from(parametersOf(one).values(), ({ data }) => data)),
    );
    return {
      weights: byteLength(Array.from(arrays, (data) => ({ data }))) + mappedBytes(base),
      optimizer: byteLength(states.flatMap(({ optimizer }) => [...optimizer.values()])),
    };
  };
  const left = () => {
    const { weights, optimizer } = held();
    return (memory ?? Number.POSITIVE_INFINITY) - processBytes - weights - optimizer;
  };
  const space = createMemoryRoom(left, available);
  const isPlanned = device !== "webgpu";
  const onCpu = device === "cpu";
  const layers = config.num_hidden_layers;
  const fractions = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.ceil(part * layers));
  const chooses = recompute === undefined && isPlanned;
  const tokens = runTokens(device, maxTokensPerRun);
  const choices = {
    config,
    recomputed: chooses ? [...new Set(fractions)] : [recomputedLayers(config, recompute)],
    forms: onCpu,
    vocabulary: Math.min(config.vocab_size, frozenWhole),
  };
  /** On a card, an update's parameters and moments are there before those that they take the place of are given back; and a session has a base of its own. */
  const bytesOfUpdate = 4 * trainedBytes + mappedBytes(base);
  let told: StepPlan | undefined;
  return {
    plan(samples, graph) {
      // Moments that were never written to are not in memory yet.
      const untouched =
        state.updates === 0 && memory === undefined ? byteLength(state.optimizer.values()) : 0;
      const needs = ({ activations, nodes, runs }: ChosenRuns) =>
        activations +
        (runs.length > 1 ? trainedBytes : 0) +
        (onCpu ? nodesBytes(nodes) + untouched : bytesOfUpdate);
      const room = space.room() * (memory === undefined ? plannedShare : 1);
      const sequences = samples.map((sample) => sample.sequences);
      const splits = runSplits(sequences, config, tokens);
      const chosen = chooseRuns(sequences, {
        ...{ ...choices, splits, graph },
        fits: (one) => !isPlanned || needs(one) <= room,
      });
      const { runs, forms: _, nodes, logits, ...sizes } = chosen;
      const plan = {
        ...{ ...held(), ...sizes, runs: runs.length, layers },
        get logits() {
          return logits(); // most plans are told nobody
        },
        gradients: runs.length > 1 ? trainedBytes : 0,
        process: processBytes + nodesBytes(nodes),
      };
      if (!told || told.recomputed !== plan.recomputed || plannedBytes(plan) > 1.1 * plannedBytes(told)) {
        told = plan;
        onPlan?.(plan);
      }
      if (isPlanned) space.take(needs(chosen), chosen.tokens);
      return chosen;
    },
  };
}

function mappedBytes(base: FrozenBase | undefined): number {
  return [...(base?.frozen.values() ?? [])].reduce((total, matrix) => total + frozenBytes(matrix), 0);
}

function byteLength(tensors: Iterable<{ data: ArrayBufferView }>): number {
  return Array.from(tensors, ({ data }) => data.byteLength).reduce((total, bytes) => total + bytes, 0);
}
