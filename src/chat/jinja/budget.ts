import { JinjaError } from "./errors.ts";

/** A template may take this many steps: a second or two. */
const mostSteps = 5_000_000;
/** No text is longer, in UTF-16 units, and no list has more items. */
const mostItems = 10_000_000;
/** Calls of macros and recursive loops may be this deep. */
const mostDepth = 150;

let running: Budget | undefined;

/** Counts steps of the template that is being rendered, if one is. Throws JinjaError when they are too many. */
export function spend(count: number): void {
  running?.step(count);
}

/** What a template may spend before it is stopped, so that none runs without end. */
export class Budget {
  #steps = 0;
  #depth = 0;

  /** Runs `action`, whose steps this budget counts: templates are rendered one after the other, each in one go. */
  during<Result>(action: () => Result): Result {
    running = this;
    try {
      return action();
    } finally {
      running = undefined;
    }
  }

  /** Counts steps. Throws JinjaError when they are too many. */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > mostSteps)
      throw new JinjaError(`it takes more than ${mostSteps} steps, perhaps without end`);
  }

  /** Throws JinjaError where a text or a list is longer than any may be. */
  check(length: number): void {
    if (length > mostItems) throw new JinjaError(`it makes a text or a list of more than ${mostItems} items`);
  }

  /** Counts `count` characters or items that are about to be made. Throws JinjaError when they are too many. */
  reserve(count: number): void {
    this.check(count);
    this.step(count / 16);
  }

  /** The text, counted. */
  text(text: string): string {
    this.reserve(text.length);
    return text;
  }

  /** The list, counted. */
  list<Item>(items: Item[]): Item[] {
    this.reserve(items.length);
    return items;
  }

  /** Runs `action` one level deeper. Throws JinjaError where that is too deep. */
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
