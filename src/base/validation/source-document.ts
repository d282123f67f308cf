import { type Place, placeAt } from "./place.ts";
import { type Pointer, parent } from "./pointer.ts";

/** A node's offsets in its text. `key` is the offset of its key, if it is a value of a mapping. */
export interface NodeOffsets {
  readonly key?: number;
  readonly value: number;
}

/** A parsed text that still knows the place of each node. */
export interface SourceDocument {
  readonly file: string;
  readonly source: string;
  readonly value: unknown;
  readonly offsets: ReadonlyMap<Pointer, NodeOffsets>;
  /** Places of nodes that come from elsewhere (overrides). */
  readonly elsewhere?: ReadonlyMap<Pointer, Place>;
}

/** The place of the node at `pointer` or of its key; the nearest enclosing node's place if it has none. */
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
