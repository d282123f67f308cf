import type { CachedDecoder } from "../models/cached-decoder.ts";
import type { KeyValues } from "../models/key-values.ts";

/** Tokens of a block: prompts are read block by block. */
export const blockLength = 64;

/**
 * Tokens whose keys and values are kept together: a block, or less where a row's numbers don't depend on where a run begins.
 * A prompt then reads less of the one before again: up to 15 tokens, not 63.
 */
export function keptLength({ isSplitInvariant }: Pick<CachedDecoder, "isSplitInvariant">): number {
  return isSplitInvariant ? 16 : blockLength;
}

/** Keys and values of blocks of prompts, by all tokens up to their end; the least recently used go first. */
export interface PrefixStore {
  /** The blocks from the start of `keys` that are kept. */
  find(keys: readonly string[]): KeyValues[];
  /** Keeps a block, [1, heads, keptLength, size] a layer. */
  keep(key: string, block: KeyValues): void;
  /** How many bytes it may hold from now on. */
  limit(bytes: number): void;
}

/** A store without blocks, that may hold none until its limit is set. */
export function createPrefixStore(): PrefixStore {
  /** By recency of use, the latest last. */
  const blocks = new Map<string, KeyValues>();
  let limit = 0;
  let held = 0;

  const shrink = () => {
    for (const [key, block] of blocks) {
      if (held <= limit) return;
      blocks.delete(key);
      held -= bytesOf(block);
    }
  };

  return {
    find(keys) {
      const found: KeyValues[] = [];
      for (const key of keys) {
        const block = blocks.get(key);
        if (!block) break;
        blocks.delete(key);
        blocks.set(key, block);
        found.push(block);
      }
      return found;
    },
    keep(key, block) {
      if (blocks.has(key)) return;
      blocks.set(key, block);
      held += bytesOf(block);
      shrink();
    },
    limit(bytes) {
      limit = bytes;
      shrink();
    },
  };
}

function bytesOf({ keys, values }: KeyValues): number {
  return [...keys, ...values].reduce((total, { byteLength }) => total + byteLength, 0);
}
