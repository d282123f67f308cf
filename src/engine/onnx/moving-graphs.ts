import { createGraph, type Graph } from "./graph.ts";
import { gather } from "./indexing.ts";
import { concat } from "./shaping.ts";

/** Whether numbers move to arrays on a card, from them, or between them. */
export type MoveWay = "in" | "out" | "across";

/**
 * Returns a model that moves rows of equal width in this many pairs of arrays.
 * - Inputs: source0, source1, … [rows, width], and from [count], the numbers of the rows to move. For rows from main
 *   memory, values [pairs, count, width] replaces both. Also target0, target1, … [rows, width], and to [count, 1], the
 *   destination row numbers.
 * - Outputs: moved0, moved1, …, to be bound to the targets' memory. For rows to main memory, taken [pairs · count,
 *   width] instead.
 */
export function movingGraph(way: MoveWay, pairs: number): Graph {
  const graph = createGraph();
  const all = Array.from({ length: pairs }, (_, index) => index);
  const values = way === "in" ? graph.input("values", "float32", [pairs, "count", "width"]) : undefined;
  const from = values ? undefined : graph.input("from", "int64", ["count"]);
  const [first, ...others] = all.map((index) => {
    if (values) return gather(values, graph.ints([index], []));
    return gather(graph.input(`source${index}`, "float32", ["sourceRows", "width"]), from!);
  });
  if (!first) return graph;
  if (way === "out") {
    graph.output("taken", concat([first, ...others], 0, "all"));
    return graph;
  }
  const to = graph.input("to", "int64", ["count", 1]);
  [first, ...others].forEach((row, index) => {
    const target = graph.input(`target${index}`, "float32", ["targetRows", "width"]);
    const output = { dtype: "float32", shape: target.shape } as const;
    graph.output(`moved${index}`, graph.emit("ScatterND", [target, to, row], output));
  });
  return graph;
}

/** Returns a model that fills an array with zeros: shape [1] gives zeros [length]. */
export function zerosGraph(): Graph {
  const graph = createGraph();
  const shape = graph.input("shape", "int64", [1]);
  const output = { dtype: "float32", shape: ["length"] } as const;
  graph.output("zeros", graph.emit("Expand", [graph.floats([0]), shape], output));
  return graph;
}
