import { defined } from "../../base/records/defined.ts";
import type { Device } from "../devices/device.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import type { Graph } from "../onnx/graph.ts";
import { encoderBytes, trainedEncoderBytes } from "../vision/encoder-memory.ts";
import { type HeldMemory, mappedBytes } from "./held-memory.ts";
import { createMemoryRoom } from "./memory-room.ts";
import type { TrainingSample } from "./objective.ts";
import { passSplits, passTokens } from "./pass-splits.ts";
import { type ChosenPasses, choosePasses, plannedBytes, type StepPlan } from "./step-plan.ts";
import { frozenWhole, recomputedLayers, type TrainedModel } from "./training-graphs.ts";

/** Bytes of a process with Node and the runtime, without a model. */
const emptyProcess = 200e6;

/**
 * Bytes of a graph's nodes, here and in the runtime's session, including the allocator's waste on activations. Measured
 * at Qwen2.5-0.5B's shape with 6,586 nodes. In a mixture of experts with 90,000 nodes, each takes 11 kB.
 */
const nodesBytes = (nodes: number) => 60e3 * Math.min(nodes, 10_000) + 11e3 * Math.max(0, nodes - 10_000);

/** The share of the available memory that plans may use. */
const plannedShare = 0.8;

/** The inputs for planning a trainer's updates. */
export interface PlannerOptions extends Pick<TrainedModel, "config" | "base" | "trainsVision"> {
  /** Most tokens of a pass. Default: chosen by the planner. */
  maxTokensPerRun?: number;
  /** Whether layers are recomputed, or how many. Default: chosen on the CPU, otherwise none. */
  recompute?: boolean | number;
  /** Most bytes of the process while it trains on the CPU. Default: four fifths of the available memory. */
  memory?: number;
  device?: Device;
  /** Whether trainers share gradients: then an update holds their sum, a portion's, and the bytes of these. */
  sharesGradients?: boolean;
  /** Returns the available bytes of the memory that passes use. Default: this process's. */
  available?: () => number;
  /**
   * Called before an update with the plan of its memory: for the first update, and for those that hold clearly more or
   * are computed differently.
   */
  onPlan?: (plan: StepPlan) => void;
}

/** Returns the graph that recomputes this many layers. `isSummed`: for one of several passes. */
type GraphOf = (recomputed: number, attention: AttentionForm, isSummed: boolean) => Graph;

/** How an update is split, its memory, and the bytes of that which are not held already. */
export interface PlannedUpdate {
  chosen: ChosenPasses;
  plan: StepPlan;
  needed: number;
}

/** Decides how updates are split into passes. */
export interface StepPlanner {
  /** Returns the bytes that the next update may use. */
  room(): number;
  /**
   * Returns the cheapest way that needs at most `room`, or else the one that needs least. Without a limit, returns the
   * last one, with the most recomputed layers and the smallest passes.
   */
  choose(samples: readonly TrainingSample[], graph: GraphOf, room?: number): PlannedUpdate;
  /**
   * Throws TRAINING_MEMORY_SHORT if nothing fits into the available memory. Does nothing for WebGPU, whose memory is
   * unknown.
   */
  check(samples: readonly TrainingSample[], graph: GraphOf): void;
  /**
   * Chooses a way within the available memory and takes that memory. Throws TRAINING_MEMORY_SHORT if nothing fits,
   * except for WebGPU, whose memory is unknown.
   */
  plan(samples: readonly TrainingSample[], graph: GraphOf): ChosenPasses;
}

/** Creates a planner for a trainer that holds this memory. */
export function createStepPlanner(options: PlannerOptions, held: () => HeldMemory): StepPlanner {
  const {
    config,
    base,
    trainsVision,
    maxTokensPerRun,
    recompute,
    device = "cpu",
    sharesGradients = false,
    onPlan,
    available,
  } = options;
  const memory = device === "cpu" ? options.memory : undefined;
  const processBytes = emptyProcess + encoderBytes(config) + (trainsVision ? trainedEncoderBytes(config) : 0);
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
  const tokens = passTokens(device, maxTokensPerRun);
  const choices = {
    config,
    recomputed: chooses ? [...new Set(fractions)] : [recomputedLayers(config, recompute)],
    forms: onCpu,
    vocabulary: Math.min(config.vocab_size, frozenWhole),
  };
  let told: StepPlan | undefined;
  const planner: StepPlanner = {
    room: () => space.room() * (memory === undefined ? plannedShare : 1),
    choose(samples, graph, room) {
      const { trained, untouched, weights, optimizer } = held();
      /**
       * On a card, an update's parameters and moments are allocated before the old ones are released, and a session has
       * its own copy of the base.
       */
      const bytesOfUpdate = 4 * trained + mappedBytes(base);
      const gradients = (candidate: ChosenPasses) =>
        (candidate.passes.length > 1 ? trained : 0) + (sharesGradients ? 3 * trained : 0);
      const needs = (candidate: ChosenPasses) =>
        candidate.activations +
        gradients(candidate) +
        (onCpu ? nodesBytes(candidate.nodes) + (memory === undefined ? untouched : 0) : bytesOfUpdate);
      const sequences = samples.map((sample) => sample.sequences);
      const splits = passSplits(sequences, config, tokens);
      const chosen = choosePasses(
        sequences,
        defined({
          ...choices,
          splits,
          graph,
          beyond: room !== undefined ? (one: ChosenPasses) => (isPlanned ? needs(one) - room : 0) : undefined,
        }),
      );
      const { passes, forms: _, nodes, logits, ...sizes } = chosen;
      const plan = {
        weights,
        optimizer,
        ...sizes,
        runs: passes.length,
        layers,
        get logits() {
          return logits(); // most plans are not reported
        },
        gradients: gradients(chosen),
        process: processBytes + nodesBytes(nodes),
      };
      return { chosen, plan, needed: needs(chosen) };
    },
    check(samples, graph) {
      if (!isPlanned) return;
      const { chosen, needed } = planner.choose(samples, graph, planner.room());
      space.check(needed, chosen.tokens);
    },
    plan(samples, graph) {
      const { chosen, plan, needed } = planner.choose(samples, graph, planner.room());
      if (!told || told.recomputed !== plan.recomputed || plannedBytes(plan) > 1.1 * plannedBytes(told)) {
        told = plan;
        onPlan?.(plan);
      }
      if (isPlanned) space.take(needed, chosen.tokens);
      return chosen;
    },
  };
  return planner;
}
