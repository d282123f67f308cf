import { createGraph, type Graph } from "./graph.ts";
import { gather } from "./indexing.ts";
import { concat } from "./shaping.ts";

/** Whether numbers go to arrays of a card, come from them, or go from some to others. */
export type MoveWay = "in" | "out" | "across";

/**
 * A model that moves rows of equal width in so many pairs of arrays. Inputs: source0, source1, … [rows, width], and from [count],
 * the numbers of the rows to be moved; where they come from the processor, values [pairs, count, width] in place of both;
 * target0, target1, … [rows, width], and to [count, 1], the numbers of the rows that they become. Outputs: moved0,
 * moved1, …, to be bound to the targets' memory; where they go to the processor, taken [pairs · count, width].
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

/** A model that makes an array zeros: shape [1] gives zeros [length]. */
export function zerosGraph(): Graph {
  const graph = createGraph();
  const shape = graph.input("shape", "int64", [1]);
  const output = { dtype: "float32", shape: ["length"] } as const;
  graph.output("zeros", graph.emit("Expand", [graph.floats([0]), shape], output));
  return graph;
}
