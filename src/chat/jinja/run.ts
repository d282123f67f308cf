import type { Budget } from "./budget.ts";
import type { Tools } from "./string-methods.ts";
import type { Args, Value } from "./values.ts";

/** The parts of the running template that filters and tests need. */
export interface Run {
  budget: Budget;
  access: Tools;
  filter(name: string, value: Value, args: Args): Value;
  test(name: string, value: Value, args: Args): boolean;
  /**
   * Returns a function that reads an attribute by a path such as "function.name". A null path reads the value
   * itself.
   */
  attributeReader(path: Value, standard?: Value): (value: Value) => Value;
}

/** A filter: computes a value from a value and arguments. */
export type FilterFunction = (value: Value, args: Args, run: Run) => Value;
