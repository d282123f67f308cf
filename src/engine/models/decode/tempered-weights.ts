import { createBoundSession } from "../../onnx/bound-session.ts";
import { mul } from "../../onnx/elementwise.ts";
import { createGraph } from "../../onnx/graph.ts";
import { modelBytes } from "../../onnx/model-bytes.ts";
import { softmax } from "../../onnx/reductions.ts";
import type { RuntimeFunctions } from "../../onnx/runtime-functions.ts";

/** Computes probabilities at temperatures other than 1. */
export interface TemperedWeights {
  /**
   * Returns probabilities [rows, vocabulary] of logits [≥ rows, vocabulary] at the rows' temperatures, given as 1 /
   * temperature. The next call overwrites them.
   */
  of(logits: Float32Array, inverseTemperatures: Float32Array): Float32Array;
  close(): void;
}

/** A separate model, because its operators are needed in few passes and would slow down all of them. */
export function createTemperedWeights(
  runtime: RuntimeFunctions,
  vocabulary: number,
  threads: number,
): TemperedWeights {
  const graph = createGraph();
  const logits = graph.input("logits", "float32", ["rows", vocabulary]);
  const inverseTemperatures = graph.input("inverseTemperatures", "float32", ["rows", 1]);
  graph.output("weights", softmax(mul(logits, inverseTemperatures)));
  const session = createBoundSession(runtime, modelBytes(graph), { threads });
  const bindings = session.bindings();
  let weights = new Float32Array();
  let bound: { logits: Float32Array; factors: Float32Array } | undefined;
  return {
    of(given, factors) {
      if (bound?.logits !== given || bound.factors !== factors) {
        const rows = factors.length;
        const size = rows * vocabulary;
        if (weights.length < size) weights = new Float32Array(size);
        bindings.bindInput("logits", { shape: [rows, vocabulary], data: given.subarray(0, size) });
        bindings.bindInput("inverseTemperatures", { shape: [rows, 1], data: factors });
        bindings.bindOutput("weights", { shape: [rows, vocabulary], data: weights.subarray(0, size) });
        bound = { logits: given, factors };
      }
      bindings.run();
      return weights;
    },
    close: () => session.close(),
  };
}
