import type { Objective } from "../../src/learning/objective.ts";
import { runSizes } from "../../src/learning/step-plan.ts";
import { runLimits, tokenRuns } from "../../src/learning/token-runs.ts";
import { type TrainedModel, trainingModel } from "../../src/learning/training-graphs.ts";
import { sizedShape } from "../../src/onnx/dimensions.ts";
import { elementCount } from "../../src/onnx/element-count.ts";
import type { Graph } from "../../src/onnx/graph.ts";
import { neededNodes } from "../../src/onnx/needed-nodes.ts";
import type { BenchmarkSequence } from "./workload.ts";

/** Floating-point operations of all matrix products of an update on a batch whose attention is in one piece, as the engine splits it. */
export function productOperations(
  model: TrainedModel,
  objective: Objective,
  batch: readonly BenchmarkSequence[],
): number {
  const { graph } = trainingModel(model, objective);
  const runs = tokenRuns(
    batch.map((sequence) => [sequence]),
    runLimits(model.config, 1024),
  );
  return runs.reduce((sum, run) => {
    const samples = run.map((index) => [batch[index]!]);
    return sum + operationsOf(graph, runSizes(samples));
  }, 0);
}

function operationsOf(graph: Graph, sizes: Readonly<Record<string, number>>): number {
  return neededNodes(graph)
    .filter(({ op }) => op === "Gemm" || op === "FusedMatMul")
    .reduce((sum, { inputs, outputs, attributes }) => {
      const inner = sizedShape(inputs[0]!.shape, sizes).at(attributes.transA === 1 ? -2 : -1)!;
      return sum + 2 * inner * elementCount(sizedShape(outputs[0]!.shape, sizes));
    }, 0);
}
