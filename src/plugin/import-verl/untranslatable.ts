import type { Pointer } from "../../base/validation/pointer.ts";

/**
 * Why an entry of verl's tool file has no counterpart in a pipeline. `pointer` leads to the cause within the
 * entry.
 */
export class Untranslatable extends Error {
  readonly pointer: Pointer;
  readonly hint: string;

  constructor(pointer: Pointer, reason: string, hint: string) {
    super(reason);
    this.pointer = pointer;
    this.hint = hint;
  }
}
