/** Counts from 0. */
export class Counter {
  #next = 0;

  next(): number {
    return this.#next++;
  }
}
