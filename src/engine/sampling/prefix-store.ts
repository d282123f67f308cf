import type { RouterTies } from "../../contracts/router-ties.ts";
import type { CachedDecoder } from "../models/decode/cached-decoder.ts";
import type { KeyValues } from "../models/decode/key-values.ts";

/** The number of tokens in a block. Prompts are read by the block. */
export const blockLength = 64;

/**
 * Returns the number of tokens whose keys and values are kept together: a block, or less if a row's numbers depend
 * neither on where a pass begins nor on whether it has whole blocks. With less, a prompt reads up to 15 tokens of the
 * previous one again instead of 63.
 */
export function keptLength({
  isSplitInvariant,
  readsBlocksApart,
}: Pick<CachedDecoder, "isSplitInvariant" | "readsBlocksApart">): number {
  return isSplitInvariant && !readsBlocksApart ? 16 : blockLength;
}

/** The keys and values of a block, and its routing ties by position in the prompt. */
export interface PromptBlock extends KeyValues {
  ties?: RouterTies;
}

/** Keys and values of blocks of prompts, by all tokens up to their end. The least recently used are dropped first. */
export interface PrefixStore {
  /** Returns the stored blocks from the start of `keys`. */
  find(keys: readonly string[]): PromptBlock[];
  /** Keeps a block, [1, heads, keptLength, size] per layer, of the weights with the name `origin`. */
  keep(key: string, block: PromptBlock, origin: string): void;
  /** Keeps a block in memory released for it. It may exceed the limit until that is set again. */
  keepBeyond(key: string, block: PromptBlock, origin: string): void;
  has(key: string): boolean;
  /** Drops all blocks of some weights. */
  forget(origin: string): void;
  /** Sets the most bytes that it may hold. */
  limit(bytes: number): void;
}

interface KeptBlock {
  block: PromptBlock;
  origin: string;
}

/** Creates an empty store. It holds nothing until its limit is set. */
export function createPrefixStore(): PrefixStore {
  /** By recency of use, the latest last. */
  const blocks = new Map<string, KeptBlock>();
  let limit = 0;
  let held = 0;

  const remove = (key: string, { block }: KeptBlock) => {
    blocks.delete(key);
    held -= bytesOf(block);
  };
  const shrink = () => {
    for (const [key, kept] of blocks) {
      if (held <= limit) return;
      remove(key, kept);
    }
  };

  const keep: PrefixStore["keep"] = (key, block, origin) => {
    if (blocks.has(key)) return;
    blocks.set(key, { block, origin });
    held += bytesOf(block);
    shrink();
  };

  return {
    find(keys) {
      const found: PromptBlock[] = [];
      for (const key of keys) {
        const kept = blocks.get(key);
        if (!kept) break;
        blocks.delete(key);
        blocks.set(key, kept);
        found.push(kept.block);
      }
      return found;
    },
    keep,
    keepBeyond(key, block, origin) {
      limit += bytesOf(block);
      keep(key, block, origin);
    },
    has: (key) => blocks.has(key),
    forget(origin) {
      for (const [key, kept] of blocks) if (kept.origin === origin) remove(key, kept);
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
