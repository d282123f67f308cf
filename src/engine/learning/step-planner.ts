import { defined } from "../../base/records/defined.ts";
import type { Device } from "../devices/device.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import type { Graph } from "../onnx/graph.ts";
import { type HeldMemory, mappedBytes } from "./held-memory.ts";
import { createMemoryRoom } from "./memory-room.ts";
import type { TrainingSample } from "./objective.ts";
import { passSplits, passTokens } from "./pass-splits.ts";
import { type ChosenPasses, choosePasses, plannedBytes, type StepPlan } from "./step-plan.ts";
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
  /** Of a pass, at most. Default: chosen. */
  maxTokensPerRun?: number;
  /** Whether layers are computed again, or how many. Default: chosen on the CPU, else none. */
  recompute?: boolean | number;
  /** Bytes that the process may hold while it trains on the CPU; default: four fifths of what is available here. */
  memory?: number;
  device?: Device;
  /** Bytes that nobody has taken of the memory that passes use; default: of this process's. */
  available?: () => number;
  /** Is told what an update will hold, before it begins: of the first one, and where another holds clearly more or is computed otherwise. */
  onPlan?: (plan: StepPlan) => void;
}

/** Gives the graph that computes so many layers again; `isSummed`: for one of several passes. */
type GraphOf = (recomputed: number, attention: AttentionForm, isSummed: boolean) => Graph;

/** How an update is split, what it will hold, and the bytes of that which aren't held already. */
export interface PlannedUpdate {
  chosen: ChosenPasses;
  plan: StepPlan;
  needed: number;
}

/** Decides how updates are split into passes. */
export interface StepPlanner {
  /** Bytes that the next update may need. */
  room(): number;
  /** The cheapest way that needs no more than `room`, or, where none does, the one that needs least; where nothing is said, the last: the most layers again, in the smallest passes. */
  choose(samples: readonly TrainingSample[], graph: GraphOf, room?: number): PlannedUpdate;
  /** Throws TRAINING_MEMORY_SHORT if nothing fits into the room there is now; not of WebGPU, whose memory isn't known. */
  check(samples: readonly TrainingSample[], graph: GraphOf): void;
  /** Chooses within the room there is, and takes it. Throws TRAINING_MEMORY_SHORT if nothing fits; not of WebGPU, whose memory isn't known. */
  plan(samples: readonly TrainingSample[], graph: GraphOf): ChosenPasses;
}

/** A planner for a trainer that holds so much. */
export function createStepPlanner(options: PlannerOptions, held: () => HeldMemory): StepPlanner {
  const { config, base, maxTokensPerRun, recompute, device = "cpu", onPlan, available } = options;
  const memory = device === "cpu" ? options.memory : undefined;
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
      /** On a card, an update's parameters and moments are there before those that they take the place of are given back; and a session has a base of its own. */
      const bytesOfUpdate = 4 * trained + mappedBytes(base);
      const needs = ({ activations, nodes, passes }: ChosenPasses) =>
        activations +
        (passes.length > 1 ? trained : 0) +
        (onCpu ? nodesBytes(nodes) + (memory === undefined ? untouched : 0) : bytesOfUpdate);
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
          return logits(); // most plans are told nobody
        },
        gradients: passes.length > 1 ? trained : 0,
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
