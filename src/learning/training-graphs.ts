import { decoderForward } from "../models/decoder.ts";
import { languageModelHead } from "../models/decoder-blocks.ts";
import { decoderInputs } from "../models/decoder-inputs.ts";
import type { ModelConfig } from "../models/model-config.ts";
import { modelWeightShapes, weightInputs } from "../models/model-weights.ts";
import { rotaryTables } from "../models/rotary-tables.ts";
import { add } from "../onnx/elementwise.ts";
import { gradients } from "../onnx/gradients.ts";
import { createGraph, type FloatValue, type Graph } from "../onnx/graph.ts";
import { linear } from "../onnx/linear-algebra.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { reshape } from "../onnx/shaping.ts";
import { tokenDistribution } from "../onnx/token-distribution.ts";
import { type PolicyOutputs, type PpoLossSettings, ppoLoss } from "./ppo-loss.ts";
import { supervisedLoss } from "./sft-loss.ts";

/** The output that holds the gradient of a parameter. */
export function gradientName(parameter: string): string {
  return `gradient/${parameter}`;
}

/** Shapes of the value head's weights: one linear map of the final normed hidden state. */
export function valueHeadShapes(config: ModelConfig): Map<string, number[]> {
  return new Map([
    ["value_head.weight", [1, config.hidden_size]],
    ["value_head.bias", [1]],
  ]);
}

interface PolicyGraph extends PolicyOutputs {
  graph: Graph;
  weights: Map<string, FloatValue>;
  valueHead: Map<string, FloatValue>;
}

/** What a TokenBatch feeds, and weights by their names. */
function policyGraph(config: ModelConfig): PolicyGraph {
  const graph = createGraph();
  const weights = weightInputs(graph, modelWeightShapes(config));
  const valueHead = weightInputs(graph, valueHeadShapes(config));
  const inputs = decoderInputs(graph);
  const model = { config, weights, tables: rotaryTables(graph, config) };
  const hidden = decoderForward(model, inputs);
  const targets = graph.input("targets", "int64", ["actions"]);
  const [valueWeight, valueBias] = [...valueHead.values()];
  const values = reshape(add(linear(hidden, valueWeight!), valueBias!), ["actions"]);
  return {
    graph,
    weights,
    valueHead,
    values,
    ...tokenDistribution(languageModelHead(model, hidden), targets),
  };
}

function outputGradients(graph: Graph, loss: FloatValue, parameters: Map<string, FloatValue>): void {
  const found = gradients(loss, [...parameters.values()]);
  [...parameters.keys()].forEach((name, index) => {
    graph.output(gradientName(name), found[index]!);
  });
}

/** A model that gives `logProbabilities` and `values` of the action tokens, without gradients. */
export function scoringModel(config: ModelConfig): Uint8Array {
  const { graph, logProbabilities, values } = policyGraph(config);
  graph.output("logProbabilities", logProbabilities);
  graph.output("values", values);
  return modelBytes(graph);
}

/** A model that gives the supervised `loss` and the gradients of all weights but the value head's. */
export function supervisedModel(config: ModelConfig): Uint8Array {
  const { graph, logProbabilities, weights } = policyGraph(config);
  const loss = supervisedLoss(logProbabilities);
  graph.output("loss", loss);
  outputGradients(graph, loss, weights);
  return modelBytes(graph);
}

/** A model that gives PPO's `loss`, its terms by their names in PpoLoss, and the gradients of all parameters. */
export function ppoModel(config: ModelConfig, settings: PpoLossSettings): Uint8Array {
  const { graph, weights, valueHead, ...outputs } = policyGraph(config);
  const perRow = (name: string) => graph.input(name, "float32", ["actions"]);
  const targets = {
    oldLogProbabilities: perRow("oldLogProbabilities"),
    referenceLogProbabilities: perRow("referenceLogProbabilities"),
    oldValues: perRow("oldValues"),
    advantages: perRow("advantages"),
    returns: perRow("returns"),
  };
  const terms = ppoLoss(outputs, targets, settings);
  for (const [name, value] of Object.entries(terms)) graph.output(name, value);
  outputGradients(graph, terms.loss, new Map([...weights, ...valueHead]));
  return modelBytes(graph);
}
