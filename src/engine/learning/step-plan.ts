import type { ModelConfig } from "../models/config/model-config.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import type { Graph, Value } from "../onnx/graph.ts";
import { peakBytes } from "../onnx/peak-memory.ts";
import { tileSize } from "../onnx/tiled-attention.ts";
import { paddedLength, rowsOf, type TokenSequence } from "./batch.ts";
import type { PassSplits } from "./pass-splits.ts";
import { attentionForms, lengthStep, prefixLength } from "./token-passes.ts";
import { summedOutputs } from "./training-graphs.ts";

/** The most memory of an update, by part, in bytes, and how it is split and recomputed to fit. */
export interface StepPlan {
  /** Of the model and its adapter. Frozen weights below float32 stay in their file, mapped into memory. */
  weights: number;
  /** Moments. */
  optimizer: number;
  /** The sums of gradients, if there are several passes. Those of a single pass count as activations. */
  gradients: number;
  /** The most that a pass uses in addition to its inputs. */
  activations: number;
  /** The part of the activations that logits, and tensors of their size, take at most. */
  logits: number;
  /** Other memory of the process, approximately: Node, graph and session, and what encodes images. */
  process: number;
  /** The number of passes. */
  runs: number;
  /** The number of tokens in the largest pass. */
  tokens: number;
  /** The number of layers, of `layers`, that gradients recompute. */
  recomputed: number;
  layers: number;
}

/** Returns the sum of a plan's parts, in bytes. */
export function plannedBytes(plan: StepPlan): number {
  return plan.weights + plan.optimizer + plan.gradients + plan.activations + plan.process;
}

/**
 * Describes a plan in one line, such as `a training step holds about 2,301 MB: weights 590, …; 8 passes of up to 512
 * tokens, no layer computed again`.
 */
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

/** Describes how a plan's update is split, such as `8 passes of up to 512 tokens, no layer computed again`. */
export function splitText({ runs: passes, tokens, recomputed, layers }: StepPlan): string {
  const split = passes === 1 ? `one pass of ${tokens} tokens` : `${passes} passes of up to ${tokens} tokens`;
  const again = recomputed === 0 ? "no layer" : `${recomputed} of ${layers} layers`;
  return `${split}, ${again} computed again`;
}

/** The options for a plan. */
export interface PlanChoices {
  /** Ways to split an update into passes. */
  splits: PassSplits;
  /** Numbers of recomputed layers, the fewest first. */
  recomputed: readonly number[];
  config: ModelConfig;
  /** Whether long sequences, and those with the same beginning, use other forms of attention. */
  forms: boolean;
  /** The least number of values in a row of logits. */
  vocabulary: number;
  /** Returns the graph that recomputes this many layers, either for a single pass or for one of several. */
  graph(recomputed: number, attention: AttentionForm, isSummed: boolean): Graph;
  /**
   * Returns the bytes that a choice needs beyond those available. It fits at 0 or less. Absent if every choice fits.
   */
  beyond?(chosen: ChosenPasses): number;
}

/** How an update is split and recomputed. */
export interface ChosenPasses {
  /** The numbers of the samples of each pass. */
  passes: number[][];
  /** Each pass's form of attention. */
  forms: AttentionForm[];
  recomputed: number;
  activations: number;
  /** Returns the logits' part of them. Computed on request. */
  logits(): number;
  /** Of the largest pass. */
  tokens: number;
  /** The number of nodes in the graph. */
  nodes: number;
}

/** The time that recomputing all layers adds to a step, approximately: a third of a LoRA step's products. */
const costOfRecomputing = 1 / 3;

/**
 * Returns the cheapest choice that fits, or else the one that misses by least. If nothing is limited, returns the last.
 * Among equal costs, prefers fewer recomputed layers to larger passes.
 */
export function choosePasses(
  samples: readonly (readonly TokenSequence[])[],
  choices: PlanChoices,
): ChosenPasses {
  const known = new Map<number[][], SizedPasses>();
  let least: { chosen: ChosenPasses; missing: number } | undefined;
  for (const { passes, recomputed } of candidates(choices)) {
    const sized = known.get(passes) ?? sizedPasses(samples, passes, choices);
    known.set(passes, sized);
    const chosen = measured(sized, recomputed, choices);
    const missing = choices.beyond?.(chosen) ?? 0;
    if (missing <= 0) return chosen;
    if (!least || missing < least.missing) least = { chosen, missing };
  }
  return least!.chosen;
}

/**
 * Yields splits and numbers of recomputed layers, the cheapest first; if nothing is limited, only the last. Usually the
 * cheapest fits, so the others are computed only after it.
 */
function* candidates({
  splits,
  recomputed: counts,
  beyond,
}: PlanChoices): Generator<{ passes: number[][]; recomputed: number }> {
  const [fewest = 0] = counts;
  if (beyond) yield { passes: splits.cheapest.passes, recomputed: fewest };
  const most = Math.max(1, ...counts);
  const splitsInOrder = splits.all();
  const all = counts.flatMap((recomputed) =>
    splitsInOrder.map(({ passes, cost }) => ({
      passes,
      recomputed,
      cost: cost * (1 + (costOfRecomputing * recomputed) / most),
    })),
  );
  all.sort((a, b) => a.cost - b.cost);
  yield* beyond ? all.slice(1) : all.slice(-1);
}

/** The passes' forms of attention, and the sizes of each pass's named dimensions. */
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
  const extremes = [...new Set([most("rows"), most("actions"), most("seen")])];
  const graphs = extremes.map(({ form, sizes }) => {
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

/**
 * How much more the runtime's allocator takes than requested. At Llama-3.2-1B's shape it takes 4.8 GB for 3.7 (8 × 512
 * tokens).
 */
const allocated = 1.3;

/**
 * Returns the sizes of a graph's named dimensions in a pass over samples. Sequences are padded to a multiple of
 * `multiple` after a prefix.
 */
export function passSizes(samples: readonly (readonly TokenSequence[])[], multiple = 1, prefix = 0) {
  const sequences = samples.flat();
  const length = paddedLength(sequences, multiple, prefix);
  const { rows, actions } = rowsOf(sequences, length, prefix);
  const embeddings = sequences.find((sequence) => sequence.embeddings)?.embeddings;
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
    rotations: rows.length,
    images: Math.max(1, rows.filter(({ token }) => embeddings?.has(token)).length),
  };
}
