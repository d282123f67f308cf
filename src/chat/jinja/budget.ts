import { JinjaError } from "./errors.ts";

/** The most steps that a template may take, which last a second or two. */
const mostSteps = 5_000_000;
/** The most UTF-16 units of a text, and the most items of a list. */
const mostItems = 10_000_000;
/** The maximum depth of calls of macros and recursive loops. */
const mostDepth = 150;

let running: Budget | undefined;

/** Counts steps of the template being rendered, if there is one. Throws JinjaError beyond the limit. */
export function spend(count: number): void {
  running?.step(count);
}

/** Limits on a template's work, so that every template ends. */
export class Budget {
  #steps = 0;
  #depth = 0;

  /**
   * Runs `action` and counts its steps in this budget. Templates render one after the other, without interruption.
   */
  during<Result>(action: () => Result): Result {
    running = this;
    try {
      return action();
    } finally {
      running = undefined;
    }
  }

  /** Counts steps. Throws JinjaError beyond the limit. */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > mostSteps)
      throw new JinjaError(`it takes more than ${mostSteps} steps, perhaps without end`);
  }

  /** Throws JinjaError if a text or a list is too long. */
  check(length: number): void {
    if (length > mostItems) throw new JinjaError(`it makes a text or a list of more than ${mostItems} items`);
  }

  /** Counts `count` characters or items before they are created. Throws JinjaError beyond the limit. */
  reserve(count: number): void {
    this.check(count);
    this.step(count / 16);
  }

  /** Counts a text and returns it. */
  text(text: string): string {
    this.reserve(text.length);
    return text;
  }

  /** Counts a list and returns it. */
  list<Item>(items: Item[]): Item[] {
    this.reserve(items.length);
    return items;
  }

  /** Runs `action` one level deeper. Throws JinjaError beyond the limit. */
  deeper<Result>(action: () => Result): Result {
    if (this.#depth >= mostDepth)
      throw new JinjaError(`macros or loops call each other more than ${mostDepth} levels deep`);
    this.#depth++;
    try {
      return action();
    } finally {
      this.#depth--;
    }
  }
}
