import type { Budget } from "./budget.ts";
import type { Tools } from "./string-methods.ts";
import type { Args, Value } from "./values.ts";

/** What filters and tests need of the template that runs. */
export interface Run {
  budget: Budget;
  access: Tools;
  filter(name: string, value: Value, args: Args): Value;
  test(name: string, value: Value, args: Args): boolean;
  /** Reads an attribute by a path such as "function.name"; null reads the value itself. */
  attributeReader(path: Value, standard?: Value): (value: Value) => Value;
}

/** A filter: a value and arguments to another value. */
export type FilterFunction = (value: Value, args: Args, run: Run) => Value;
