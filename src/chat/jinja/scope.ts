import type { Value } from "./values.ts";

/** Names and their values, nested in an outer scope. Assignments stay in the inner scope. */
export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  get(name: string): Value | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.#outer) {
      const value = scope.#values.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}
