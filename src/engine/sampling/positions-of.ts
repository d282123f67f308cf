import type { ModelConfig } from "../models/config/model-config.ts";
import { multimodalPositions, type TokenPosition } from "../models/config/token-positions.ts";
import { rotarySections } from "../models/config/vision-config.ts";
import type { Sequence } from "./sequence.ts";

/** Returns the positions of `count` tokens of a sequence. Those after its prompt are text. */
export type PositionsOf = (
  sequence: Pick<Sequence, "prompt"> & { embeddings: Sequence["embeddings"] },
  from: number,
  count: number,
) => TokenPosition[];

/** Creates such a function for a model that rotates by three axes; undefined for others. */
export function createPositionsOf(config: ModelConfig): PositionsOf | undefined {
  if (!rotarySections(config)) return undefined;
  const known = new WeakMap<readonly number[], ReturnType<typeof multimodalPositions>>();
  return ({ prompt, embeddings }, from, count) => {
    const ofPrompt = known.get(prompt) ?? multimodalPositions(prompt, config.vocab_size, embeddings);
    known.set(prompt, ofPrompt);
    return Array.from({ length: count }, (_, index): TokenPosition => {
      const after = ofPrompt.next + from + index - prompt.length;
      return ofPrompt.positions[from + index] ?? [after, after, after];
    });
  };
}
