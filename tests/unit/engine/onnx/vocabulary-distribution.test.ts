import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { mul, sigmoid } from "../../../../src/engine/onnx/elementwise.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph, type FloatValue, type IntValue } from "../../../../src/engine/onnx/graph.ts";
import { linear } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { neededNodes } from "../../../../src/engine/onnx/needed-nodes.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";
import { type TokenDistribution, tokenDistribution } from "../../../../src/engine/onnx/token-distribution.ts";
import { partSize, vocabularyDistribution } from "../../../../src/engine/onnx/vocabulary-distribution.ts";
import { noise } from "./finite-differences.ts";

// Two whole parts of the vocabulary, and a shorter one.
const vocabulary = 2 * partSize + 100;
const [rows, size] = [5, 6];

type Distribution = (hidden: FloatValue, head: FloatValue, targets: IntValue) => TokenDistribution;

const without =
  (unwritten?: number): Distribution =>
  (hidden, head, targets) =>
    vocabularyDistribution(hidden, head, targets, { gradients: true, entropies: true }, unwritten);

const inParts = without();

const whole: Distribution = (hidden, head, targets) => tokenDistribution(linear(hidden, head), targets);

function graphOf(distribution: Distribution) {
  const graph = createGraph();
  const hidden = graph.input("hidden", "float32", ["rows", size]);
  const head = graph.input("head", "float32", [vocabulary, size]);
  const targets = graph.input("targets", "int64", ["rows"]);
  const { logProbabilities, entropies } = distribution(hidden, head, targets);
  graph.output("logProbabilities", logProbabilities);
  graph.output("entropies", entropies);
  const weighted = (values: FloatValue, name: string) =>
    reduceSum(mul(values, graph.input(name, "float32", ["rows"])));
  for (const [name, loss] of Object.entries({
    chosen: weighted(logProbabilities, "chosenWeights"),
    entropy: weighted(entropies, "entropyWeights"),
  })) {
    const [dHidden, dHead] = gradients(loss, [hidden, head]);
    graph.output(`${name}/hidden`, dHidden!);
    graph.output(`${name}/head`, dHead!);
  }
  return graph;
}

// In each of the parts, at their edges too.
const targetTokens = [0, partSize - 1, partSize, 2 * partSize, vocabulary - 1];

const noiseOf = (count: number, seed: number, factor = 1) =>
  noise(count, seed).map((value) => factor * value);

const inputs = (scale: number) => ({
  hidden: noiseOf(rows * size, 1, scale),
  head: noiseOf(vocabulary * size, 2),
  chosenWeights: noiseOf(rows, 3),
  entropyWeights: noiseOf(rows, 4),
});

async function numbersOf(scale: number, unwritten: number | undefined) {
  const graph = graphOf(without(unwritten));
  const session = await createModelSession(modelBytes(graph));
  const { hidden, head, chosenWeights, entropyWeights } = inputs(scale);
  const outputs = await session.run({
    hidden: { shape: [rows, size], data: hidden },
    head: { shape: [vocabulary, size], data: head },
    targets: { shape: [rows], data: BigInt64Array.from(targetTokens, BigInt) },
    chosenWeights: { shape: [rows], data: chosenWeights },
    entropyWeights: { shape: [rows], data: entropyWeights },
  });
  const numbers = [...graph.outputs.keys()].map((name) => [name, outputs.floats(name).slice()] as const);
  await session.close();
  return new Map(numbers);
}

/** The same in double precision, with whole logits, of which that of a token is −∞. */
function reference(scale: number, unwritten: number | undefined): Record<string, Float64Array> {
  const { hidden, head, chosenWeights, entropyWeights } = inputs(scale);
  const found = {
    logProbabilities: new Float64Array(rows),
    entropies: new Float64Array(rows),
    "chosen/hidden": new Float64Array(rows * size),
    "chosen/head": new Float64Array(vocabulary * size),
    "entropy/hidden": new Float64Array(rows * size),
    "entropy/head": new Float64Array(vocabulary * size),
  };
  const columns = Array.from({ length: size }, (_, column) => column);
  for (let row = 0; row < rows; row++) {
    const logits = Float64Array.from({ length: vocabulary }, (_, token) =>
      token === unwritten
        ? -1e9 // not −∞, which times 0 is no number
        : columns.reduce((sum, at) => sum + hidden[row * size + at]! * head[token * size + at]!, 0),
    );
    const largest = logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
    const logSum = largest + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0));
    const entropy = logits.reduce((sum, logit) => sum - Math.exp(logit - logSum) * (logit - logSum), 0);
    found.logProbabilities[row] = logits[targetTokens[row]!]! - logSum;
    found.entropies[row] = entropy;
    logits.forEach((logit, token) => {
      const probability = Math.exp(logit - logSum);
      const slopes = {
        chosen: chosenWeights[row]! * ((token === targetTokens[row] ? 1 : 0) - probability),
        entropy: -entropyWeights[row]! * probability * (logit - logSum + entropy),
      };
      for (const at of columns) {
        for (const name of ["chosen", "entropy"] as const) {
          found[`${name}/hidden`][row * size + at]! += slopes[name] * head[token * size + at]!;
          found[`${name}/head`][token * size + at]! += slopes[name] * hidden[row * size + at]!;
        }
      }
    });
  }
  return found;
}

test.each([
  { scale: 0 },
  { scale: 1 },
  { scale: 30 },
  { scale: 1, unwritten: 1 },
  { scale: 1, unwritten: partSize + 7 },
  { scale: 30, unwritten: 2 * partSize - 1 },
  { scale: 30, unwritten: vocabulary - 2 },
])(
  "in parts, all is as in double precision with whole logits (hidden states ±$scale, never token $unwritten)",
  async ({ scale, unwritten }) => {
    const found = await numbersOf(scale, unwritten);
    for (const [name, expected] of Object.entries(reference(scale, unwritten))) {
      const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
      const apart = found
        .get(name)!
        .reduce((most, value, at) => Math.max(most, Math.abs(value - expected[at]!)), 0);
      expect(apart / largest, name).toBeLessThan(5e-5);
    }
  },
);

test("the gradient of a head that is trained is made last: what others keep on the way back is not held beside it", () => {
  const made = createGraph();
  const x = made.input("x", "float32", ["rows", size]);
  const weights = Array.from({ length: 8 }, (_, at) => made.input(`w${at}`, "float32", [size, size]));
  const head = made.input("head", "float32", [vocabulary, size]);
  const hidden = weights.reduce((states, weight) => sigmoid(linear(states, weight)), x);
  const { logProbabilities } = inParts(hidden, head, made.input("targets", "int64", ["rows"]));
  const parameters = [...weights, head];
  gradients(reduceSum(logProbabilities), parameters).forEach((gradient, at) => {
    made.output(`gradient${at}`, gradient);
  });
  const places = new Map(neededNodes(made).flatMap(({ outputs }, at) => outputs.map((value) => [value, at])));
  const [first, ...others] = Array.from(made.outputs.values(), (value) => places.get(value)!).reverse();
  expect(first).toBeGreaterThan(Math.max(...others));
});

test("in parts, what is held at once does not grow with the vocabulary", () => {
  const graph = (distribution: Distribution) => {
    const made = createGraph();
    const hidden = made.input("hidden", "float32", ["rows", size]);
    const head = made.input("head", "float32", [151_936, size]);
    const { logProbabilities } = distribution(hidden, head, made.input("targets", "int64", ["rows"]));
    made.output("gradient", gradients(reduceSum(logProbabilities), [hidden])[0]!);
    return made;
  };
  const sizes = { rows: 1000 };
  expect(peakBytes(graph(whole), sizes)).toBeGreaterThan(4 * 151_936 * 1000);
  expect(peakBytes(graph(inParts), sizes)).toBeLessThan(3 * 4 * partSize * 1000);
});
