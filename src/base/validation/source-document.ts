import { type Place, placeAt } from "./place.ts";
import { type Pointer, parent } from "./pointer.ts";

/** Offsets of a node in its text; `key` is that of the mapping's key that holds it. */
export interface NodeOffsets {
  readonly key?: number;
  readonly value: number;
}

/** A parsed text that still knows where everything stood. */
export interface SourceDocument {
  readonly file: string;
  readonly source: string;
  readonly value: unknown;
  readonly offsets: ReadonlyMap<Pointer, NodeOffsets>;
  /** Places of nodes that did not come from the text (overrides). */
  readonly elsewhere?: ReadonlyMap<Pointer, Place>;
}

/** Where the node at `pointer`, or the key that holds it, stands; the nearest node around it if it has no place. */
export function placeOf(document: SourceDocument, pointer: Pointer, part: "key" | "value"): Place {
  for (let at = pointer; ; at = parent(at)) {
    const override = document.elsewhere?.get(at);
    if (override !== undefined) return override;
    const offsets = document.offsets.get(at);
    if (offsets === undefined && at !== "") continue;
    const wanted = at === pointer && part === "value" ? offsets?.value : (offsets?.key ?? offsets?.value);
    return placeAt(document.file, document.source, wanted ?? 0);
  }
}
