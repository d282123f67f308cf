import { llamaForward } from "../models/llama.ts";
import { languageModelHead, rotaryTables } from "../models/llama-blocks.ts";
import type { LlamaConfig } from "../models/llama-config.ts";
import { llamaWeightShapes, weightInputs } from "../models/llama-weights.ts";
import { add } from "../onnx/elementwise.ts";
import { gradients } from "../onnx/gradients.ts";
import { createGraph, type FloatValue, type Graph, type IntValue } from "../onnx/graph.ts";
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
export function valueHeadShapes(config: LlamaConfig): Map<string, number[]> {
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

/** What TokenBatch feeds: tokens, positions, rows, targets; and weights by their names. */
function policyGraph(config: LlamaConfig): PolicyGraph {
  const graph = createGraph();
  const weights = weightInputs(graph, llamaWeightShapes(config));
  const valueHead = weightInputs(graph, valueHeadShapes(config));
  const whole = (name: string): IntValue => graph.input(name, "int64", ["batch", "length"]);
  const inputs = {
    tokens: whole("tokens"),
    positions: whole("positions"),
    rows: graph.input("rows", "int64", ["rows"]),
  };
  const model = { config, weights, tables: rotaryTables(graph, config) };
  const hidden = llamaForward(model, inputs);
  const targets = graph.input("targets", "int64", ["rows"]);
  const [valueWeight, valueBias] = [...valueHead.values()];
  const values = reshape(add(linear(hidden, valueWeight!), valueBias!), ["rows"]);
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
export function scoringModel(config: LlamaConfig): Uint8Array {
  const { graph, logProbabilities, values } = policyGraph(config);
  graph.output("logProbabilities", logProbabilities);
  graph.output("values", values);
  return modelBytes(graph);
}

/** A model that gives the supervised `loss` and the gradients of all weights but the value head's. */
export function supervisedModel(config: LlamaConfig): Uint8Array {
  const { graph, logProbabilities, weights } = policyGraph(config);
  const loss = supervisedLoss(logProbabilities);
  graph.output("loss", loss);
  outputGradients(graph, loss, weights);
  return modelBytes(graph);
}

/** A model that gives PPO's `loss`, its terms by their names in PpoLoss, and the gradients of all parameters. */
export function ppoModel(config: LlamaConfig, settings: PpoLossSettings): Uint8Array {
  const { graph, weights, valueHead, ...outputs } = policyGraph(config);
  const perRow = (name: string) => graph.input(name, "float32", ["rows"]);
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
