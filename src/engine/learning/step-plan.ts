import type { ModelConfig } from "../models/config/model-config.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import type { Graph, Value } from "../onnx/graph.ts";
import { peakBytes } from "../onnx/peak-memory.ts";
import { tileSize } from "../onnx/tiled-attention.ts";
import { paddedLength, rowsOf, type TokenSequence } from "./batch.ts";
import type { PassSplit } from "./pass-splits.ts";
import { attentionForms, lengthStep, prefixLength } from "./token-passes.ts";
import { summedOutputs } from "./training-graphs.ts";

/** What an update will hold at once, by part, in bytes; how it is split, and what is computed again to fit. */
export interface StepPlan {
  /** Of the model and its adapter; those that are frozen in less than float32 lie in their file, mapped into memory. */
  weights: number;
  /** Moments. */
  optimizer: number;
  /** Their sum, where there are several passes; those of a pass are among its activations. */
  gradients: number;
  /** The most that a pass holds beside what it reads. */
  activations: number;
  /** The most that logits, and what is of their size, have of that. */
  logits: number;
  /** What the process holds beside, about: itself, graph and session. */
  process: number;
  /** The number of passes. */
  runs: number;
  /** Tokens of the largest pass. */
  tokens: number;
  /** Layers that gradients compute again, of all. */
  recomputed: number;
  layers: number;
}

/** The parts of a plan together, bytes. */
export function plannedBytes(plan: StepPlan): number {
  return plan.weights + plan.optimizer + plan.gradients + plan.activations + plan.process;
}

/** A plan in a line, such as `a training step holds about 2,301 MB: weights 590, …; 8 passes of up to 512 tokens, no layer computed again`. */
export function stepPlanText(plan: StepPlan): string {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6).toLocaleString("en");
  const { weights, optimizer, gradients, activations, logits, process } = plan;
  const parts = [
    `weights ${megabytes(weights)}`,
    `optimizer ${megabytes(optimizer)}`,
    `gradients ${megabytes(gradients)}`,
    `activations ${megabytes(activations)} (logits ${megabytes(logits)})`,
    `the process itself ${megabytes(process)}`,
  ];
  return `a training step holds about ${megabytes(plannedBytes(plan))} MB: ${parts.join(", ")}; ${splitText(plan)}`;
}

/** How a plan's update is split, such as `8 passes of up to 512 tokens, no layer computed again`. */
export function splitText({ runs: passes, tokens, recomputed, layers }: StepPlan): string {
  const split = passes === 1 ? `one pass of ${tokens} tokens` : `${passes} passes of up to ${tokens} tokens`;
  const again = recomputed === 0 ? "no layer" : `${recomputed} of ${layers} layers`;
  return `${split}, ${again} computed again`;
}

/** What a plan is chosen from. */
export interface PlanChoices {
  /** Ways to split an update into passes, the cheapest first. */
  splits: readonly PassSplit[];
  /** Layers that are computed again, the fewest first. */
  recomputed: readonly number[];
  config: ModelConfig;
  /** Whether long sequences, and those that begin alike, are attended in other ways than others. */
  forms: boolean;
  /** Logits are rows of at least so many numbers. */
  vocabulary: number;
  /** The graph that computes so many layers again, for the only pass or one of several. */
  graph(recomputed: number, attention: AttentionForm, isSummed: boolean): Graph;
  /** Bytes that a choice needs beyond those there are: it fits where there are none. Absent where nothing is to fit. */
  beyond?(chosen: ChosenPasses): number;
}

/** How an update is split, and what of it is computed again. */
export interface ChosenPasses {
  /** Numbers of the samples of each pass. */
  passes: number[][];
  /** How each attends. */
  forms: AttentionForm[];
  recomputed: number;
  activations: number;
  /** What logits have of them; counted when it is asked for. */
  logits(): number;
  /** Of the largest pass. */
  tokens: number;
  /** Of the graph. */
  nodes: number;
}

/** What computing all layers again adds to a step's time, about: a third of a LoRA step's products. */
const costOfRecomputing = 1 / 3;

/**
 * The cheapest choice that fits, or the one that misses it least; where nothing is to fit, the last. Of those that cost the same, fewer
 * layers are computed again before passes are smaller.
 */
export function choosePasses(
  samples: readonly (readonly TokenSequence[])[],
  choices: PlanChoices,
): ChosenPasses {
  const most = Math.max(1, ...choices.recomputed);
  const all = choices.recomputed.flatMap((recomputed) =>
    choices.splits.map(({ passes, cost }) => ({
      passes,
      recomputed,
      cost: cost * (1 + (costOfRecomputing * recomputed) / most),
    })),
  );
  all.sort((a, b) => a.cost - b.cost);
  let least: { chosen: ChosenPasses; beyond: number } | undefined;
  const known = new Map<number[][], SizedPasses>();
  for (const { passes, recomputed } of choices.beyond ? all : all.slice(-1)) {
    const sized = known.get(passes) ?? sizedPasses(samples, passes, choices);
    known.set(passes, sized);
    const chosen = measured(sized, recomputed, choices);
    const beyond = choices.beyond?.(chosen) ?? 0;
    if (beyond <= 0) return chosen;
    if (!least || beyond < least.beyond) least = { chosen, beyond };
  }
  return least!.chosen;
}

/** How passes attend, and the sizes of each one's named dimensions. */
interface SizedPasses {
  passes: number[][];
  forms: AttentionForm[];
  sized: { form: AttentionForm; sizes: ReturnType<typeof passSizes> }[];
}

function sizedPasses(
  samples: readonly (readonly TokenSequence[])[],
  passes: number[][],
  choices: PlanChoices,
): SizedPasses {
  const parts = passes.map((pass) => pass.map((index) => samples[index]!));
  const forms = choices.forms
    ? attentionForms(
        parts.map((part) => part.flat()),
        choices.config,
      )
    : passes.map((): AttentionForm => "kept");
  const sized = parts.map((part, number) => {
    const form = forms[number]!;
    return { form, sizes: passSizes(part, lengthStep(form), prefixLength(form, part.flat())) };
  });
  return { passes, forms, sized };
}

function measured(
  { passes, forms, sized }: SizedPasses,
  recomputed: number,
  choices: PlanChoices,
): ChosenPasses {
  if (passes.length === 0)
    return { passes, forms: [], recomputed, activations: 0, logits: () => 0, tokens: 0, nodes: 0 };
  const most = (key: "rows" | "actions" | "seen") =>
    sized.reduce((largest, one) => (one.sizes[key] > largest.sizes[key] ? one : largest));
  const isLogits = ({ shape }: Value) => Number(shape.at(-1)) >= choices.vocabulary && shape[0] === "actions";
  const largest = [...new Set([most("rows"), most("actions"), most("seen")])];
  const graphs = largest.map(({ form, sizes }) => {
    const graph = choices.graph(recomputed, form, passes.length > 1);
    return { graph, sizes, sums: summedOutputs(graph) };
  });
  const peak = (counts = (_: Value) => true) => {
    const peaks = graphs.map(({ graph, sizes, sums }) =>
      peakBytes(graph, sizes, (value) => counts(value) && !sums.has(value)),
    );
    return Math.max(...peaks);
  };
  return {
    passes,
    forms,
    recomputed,
    activations: allocated * peak(),
    logits: () => allocated * peak(isLogits),
    tokens: most("rows").sizes.rows,
    nodes: Math.max(...graphs.map(({ graph }) => graph.nodes.length)),
  };
}

/** What the runtime's allocator takes for what it is asked for: at Llama-3.2-1B's shape 4.8 GB for 3.7 (8 × 512 tokens). */
const allocated = 1.3;

/** Sizes of a graph's named dimensions in a pass over samples, whose sequences are padded to a multiple of `multiple` after a prefix. */
export function passSizes(samples: readonly (readonly TokenSequence[])[], multiple = 1, prefix = 0) {
  const sequences = samples.flat();
  const length = paddedLength(sequences, multiple, prefix);
  const { rows, actions } = rowsOf(sequences, length, prefix);
  const copies = rows.map(({ places }) => places.length - 1).filter((count) => count > 0);
  return {
    rows: rows.length,
    prefix,
    own: rows.length - prefix,
    batch: sequences.length,
    length,
    tiles: length / tileSize,
    seen: prefix + length,
    shared: Math.max(1, copies.length),
    copies: Math.max(1, ...copies),
    actions: actions.length,
    samples: samples.length,
  };
}
