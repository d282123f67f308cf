import { groupOf, type ScoreOptions } from "./causal-attention.ts";
import { type Dimension, product } from "./dimensions.ts";
import { add, mul, sub, tanh } from "./elementwise.ts";
import { floatAttribute, type GradientRule, integerAttribute } from "./gradient-rule.ts";
import type { FloatValue, IntValue } from "./graph.ts";
import { matMul } from "./linear-algebra.ts";
import { type Iteration, loop } from "./loop.ts";
import { reduceSum, softmax } from "./reductions.ts";
import { expand, lowerTriangle, reshape, transpose, upperTriangle } from "./shaping.ts";

/** The number of queries whose scores are computed together. */
export const tileSize = 512;

/** A length that consists of whole tiles. */
export const tiledLength: Dimension = product([tileSize, "tiles"]);

/**
 * Computes the result of `causalAttention` for lengths of `tiledLength`, one tile of queries after the other with the
 * keys that it may see. So memory grows with the length instead of its square, and scores of later keys are not
 * computed (arXiv 2112.05682). The backward pass recomputes the scores.
 */
export function tiledAttention(
  queries: FloatValue,
  keys: FloatValue,
  values: FloatValue,
  window: number | undefined,
  { scale = Number(keys.shape.at(-1)) ** -0.5, cap = null }: ScoreOptions = {},
): FloatValue {
  const attention = { queries, keys, values, window, scale, cap };
  const build = () => {
    const { stacked } = loop(queries.graph, tilesOf(keys), [], (turn) => {
      const tile = tileOf(turn, attention);
      return { stacked: [matMul(tile.weights, tile.values)] };
    });
    return { output: inOne(stacked[0]!, queries, keys), saved: [] };
  };
  return queries.graph.composite("TiledAttention", [queries, keys, values], build, {
    window: window ?? 0,
    scale: { float: scale },
    cap: { float: cap ?? 0 },
  });
}

/**
 * Like `causalAttentionRule`, tile by tile. Gradients of queries follow each other, and those of keys and values add
 * up.
 */
export const tiledAttentionRule: GradientRule = (dOutput, step) => {
  const { floats, output } = step;
  const [queries, keys, values] = floats;
  const { graph } = dOutput;
  const alpha = floatAttribute(step, "scale");
  const attention = {
    queries,
    keys,
    values,
    scale: alpha,
    window: integerAttribute(step, "window") || undefined,
    cap: floatAttribute(step, "cap") || null,
  };
  const zeros = expand(graph.floats([0], [1, 1, 1, 1]), keys.shape);
  const { carried, stacked } = loop(graph, tilesOf(keys), [zeros, zeros], (turn) => {
    const tile = tileOf(turn, attention);
    const dTile = tile.rows(dOutput);
    const dWeights = matMul(dTile, tile.values, { transposeB: true });
    const sums = reduceSum(mul(dTile, tile.rows(output)), [-1], true);
    const dCapped = mul(tile.weights, sub(dWeights, sums));
    const dScores = tile.turned ? mul(dCapped, sub(1, mul(tile.turned, tile.turned))) : dCapped;
    const dKeys = matMul(dScores, tile.queries, { transposeA: true, alpha });
    const dValues = matMul(tile.weights, dTile, { transposeA: true });
    const [sumOfKeys, sumOfValues] = turn.carried;
    return {
      carried: [add(sumOfKeys!, tile.amongAll(dKeys)), add(sumOfValues!, tile.amongAll(dValues))],
      stacked: [matMul(dScores, tile.keys, { alpha })],
    };
  });
  return [inOne(stacked[0]!, queries, keys), ...carried];
};

interface Attention {
  queries: FloatValue;
  keys: FloatValue;
  values: FloatValue;
  window: number | undefined;
  scale: number;
  cap: number | null;
}

/**
 * Returns a tile of queries [batch, kv heads, group · tileSize, head size] with the keys and values [batch, kv heads,
 * seen, head size] that it sees.
 */
function tileOf({ turn, outer }: Iteration, { queries, keys, values, window, scale, cap }: Attention) {
  const { graph } = turn;
  const group = groupOf(queries.shape[2]!, keys.shape[2]!);
  const [batch, heads, length, size] = keys.shape;
  const start = integers("Mul", turn, graph.ints([tileSize]));
  const end = integers("Add", start, graph.ints([tileSize]));
  const none = graph.ints([0]);
  const from =
    window === undefined ? none : integers("Max", integers("Sub", start, graph.ints([window - 1])), none);
  const seen = [batch!, heads!, "seen", size!];
  const before = (x: FloatValue) => sliceBetween(outer(x), [from, end], 2, seen);
  /** Returns the tile's part of [batch, kv heads, group · length, columns]. */
  const rows = (x: FloatValue): FloatValue => {
    const columns = x.shape[3]!;
    const apart = reshape(outer(x), [batch!, heads!, group, length!, columns]);
    const part = sliceBetween(apart, [start, end], 3, [batch!, heads!, group, tileSize, columns]);
    return reshape(part, [batch!, heads!, group * tileSize, columns]);
  };
  const own = { queries: rows(queries), keys: before(keys), values: before(values) };
  const alpha = cap === null ? scale : scale / cap;
  const products = matMul(own.queries, own.keys, { transposeB: true, alpha });
  const turned = cap === null ? undefined : tanh(products);
  const scores = turned && cap !== null ? mul(turned, cap) : products;
  const blocked = expand(graph.floats([-1e9], [1, 1]), [tileSize, "seen"]);
  const ahead = integers("Sub", start, from);
  const later = upperTriangle(blocked, integers("Add", ahead, graph.ints([1])));
  const bias =
    window === undefined
      ? later
      : add(later, lowerTriangle(blocked, integers("Sub", ahead, graph.ints([window]))));
  const grouped = add(reshape(scores, [batch!, heads!, group, tileSize, "seen"]), bias);
  const weights = reshape(softmax(grouped), [batch!, heads!, group * tileSize, "seen"]);
  /** Places values of the seen keys among all keys, with zeros elsewhere. */
  const amongAll = (x: FloatValue): FloatValue => {
    const after = integers("Sub", sizeOf(outer(keys), 2), end);
    const two = graph.ints([0, 0]);
    const parts = [two, from, graph.ints([0, 0, 0]), after, none];
    const pads = graph.emit("Concat", parts, { dtype: "int64", shape: [8] }, { axis: 0 });
    return graph.emit("Pad", [x, pads], { dtype: "float32", shape: keys.shape });
  };
  return { ...own, weights, turned, rows, amongAll };
}

/** Joins the results of all tiles [tiles, batch, kv heads, group · tileSize, head size] in the shape of the queries. */
function inOne(stacked: FloatValue, queries: FloatValue, keys: FloatValue): FloatValue {
  const [turns, batch, heads, , size] = stacked.shape;
  const apart = reshape(stacked, [
    turns!,
    batch!,
    heads!,
    groupOf(queries.shape[2]!, keys.shape[2]!),
    tileSize,
    size!,
  ]);
  return reshape(transpose(apart, [1, 2, 3, 0, 4, 5]), queries.shape);
}

function tilesOf(keys: FloatValue): [IntValue, string] {
  return [integers("Div", sizeOf(keys, 2), keys.graph.ints([tileSize])), "tiles"];
}

function sizeOf(value: FloatValue, axis: number): IntValue {
  const attributes = { start: axis, end: axis + 1 };
  return value.graph.emit("Shape", [value], { dtype: "int64", shape: [1] }, attributes);
}

function integers(op: "Add" | "Sub" | "Mul" | "Div" | "Max", a: IntValue, b: IntValue): IntValue {
  return a.graph.emit(op, [a, b], { dtype: "int64", shape: [1] });
}

function sliceBetween(
  a: FloatValue,
  [from, to]: readonly [IntValue, IntValue],
  axis: number,
  shape: readonly Dimension[],
): FloatValue {
  return a.graph.emit("Slice", [a, from, to, a.graph.ints([axis])], { dtype: "float32", shape });
}
