import {
  createGraph,
  type DataType,
  type FloatValue,
  type Graph,
  type IntValue,
  type Value,
} from "./graph.ts";

/** The inside of a loop, while it is written. All that its operators take must come from here. */
export interface Iteration {
  /** The number of this turn, from 0: [1]. */
  readonly turn: IntValue;
  /** What the turn before gave. */
  readonly carried: readonly FloatValue[];
  /** A value from around the loop. */
  outer<Type extends DataType>(value: Value<Type>): Value<Type>;
}

/** What a turn gives: to the next one, and for all to see. */
export interface IterationResult {
  readonly carried?: readonly FloatValue[];
  readonly stacked?: readonly FloatValue[];
}

/** What turns gave: the last ones' `carried`, and of all turns [turns, …] `stacked`. */
export interface LoopResult {
  readonly carried: readonly FloatValue[];
  readonly stacked: readonly FloatValue[];
}

/**
 * Does the same `count` times ([1]; at least once), one turn after the other: what a turn makes is freed when it is over.
 * `turns` names that count in shapes. No gradient rule.
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
