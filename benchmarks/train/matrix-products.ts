import type { Objective } from "../../src/engine/learning/objective.ts";
import { passSizes } from "../../src/engine/learning/step-plan.ts";
import { passLimits, tokenPasses } from "../../src/engine/learning/token-passes.ts";
import { type TrainedModel, trainingModel } from "../../src/engine/learning/training-graphs.ts";
import { sizedShape } from "../../src/engine/onnx/dimensions.ts";
import { elementCount } from "../../src/engine/onnx/element-count.ts";
import type { Graph, Value } from "../../src/engine/onnx/graph.ts";
import { neededNodes } from "../../src/engine/onnx/needed-nodes.ts";
import type { BenchmarkSequence } from "./workload.ts";

/** Floating-point operations of all matrix products of an update on a batch whose attention is in one piece, as the engine splits it. */
export function productOperations(
  model: TrainedModel,
  objective: Objective,
  batch: readonly BenchmarkSequence[],
): number {
  const { graph } = trainingModel(model, objective);
  const passes = tokenPasses(
    batch.map((sequence) => [sequence]),
    passLimits(model.config, 1024),
  );
  return passes.reduce((sum, pass) => {
    const samples = pass.map((index) => [batch[index]!]);
    return sum + operationsOf(graph, passSizes(samples));
  }, 0);
}

function operationsOf(graph: Graph, sizes: Readonly<Record<string, number>>): number {
  return neededNodes(graph)
    .filter(({ op }) => op === "Gemm" || op === "FusedMatMul" || op === "GroupQueryAttention")
    .reduce((sum, { op, inputs, outputs, attributes }) => {
      if (op === "GroupQueryAttention") return sum + attentionOperations(outputs, sizes);
      const inner = sizedShape(inputs[0]!.shape, sizes).at(attributes.transA === 1 ? -2 : -1)!;
      return sum + 2 * inner * elementCount(sizedShape(outputs[0]!.shape, sizes));
    }, 0);
}

/** Scores are a product of every query and key, and outputs one of weights and values. */
function attentionOperations(
  [, keys, , weights]: readonly Value[],
  sizes: Readonly<Record<string, number>>,
): number {
  const size = Number(keys!.shape[3]);
  return 4 * size * elementCount(sizedShape(weights!.shape, sizes));
}
