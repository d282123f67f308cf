import {
  createGraph,
  type DataType,
  type FloatValue,
  type Graph,
  type IntValue,
  type Value,
} from "./graph.ts";

/** The inside of a loop under construction. Its operators may only use values from here. */
export interface Iteration {
  /** The number of this iteration, from 0: [1]. */
  readonly turn: IntValue;
  /** The values carried over from the previous iteration. */
  readonly carried: readonly FloatValue[];
  /** Returns a value from outside of the loop. */
  outer<Type extends DataType>(value: Value<Type>): Value<Type>;
}

/** The results of an iteration, for the next one and for the outside. */
export interface IterationResult {
  readonly carried?: readonly FloatValue[];
  readonly stacked?: readonly FloatValue[];
}

/** The results of a loop: the last iteration's `carried`, and `stacked` [turns, …] of all iterations. */
export interface LoopResult {
  readonly carried: readonly FloatValue[];
  readonly stacked: readonly FloatValue[];
}

/**
 * Runs `count` iterations ([1]; at least one) in sequence, and frees their intermediate values after each. `turns`
 * names the count in shapes. No gradient rule.
 */
export function loop(
  graph: Graph,
  [count, turns]: readonly [IntValue, string],
  first: readonly FloatValue[],
  build: (turn: Iteration) => IterationResult,
): LoopResult {
  const prefix = `loop${graph.nodes.length}_`;
  const body = createGraph(prefix);
  const turn = body.input(`${prefix}turn`, "int64", []);
  const goesOn = body.input(`${prefix}condition`, "bool", []);
  const carried = first.map(({ shape }, at) => body.input(`${prefix}carried${at}`, "float32", shape));
  const outer = <Type extends DataType>(value: Value<Type>) => body.capture(value);
  const number = body.emit("Unsqueeze", [turn, body.ints([0])], { dtype: "int64", shape: [1] });
  const { carried: next = [], stacked = [] } = build({ turn: number, carried, outer });
  body.output(`${prefix}goesOn`, goesOn);
  for (const [at, value] of [...next, ...stacked].entries()) body.output(`${prefix}output${at}`, value);
  const shapes = [...first.map(({ shape }) => shape), ...stacked.map(({ shape }) => [turns, ...shape])];
  const outputs = graph.emitSeveral("Loop", [count, graph.absent, ...first], shapes, { body: { body } }, "");
  return { carried: outputs.slice(0, first.length), stacked: outputs.slice(first.length) };
}
