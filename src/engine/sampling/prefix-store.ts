import type { RouterTies } from "../../contracts/router-ties.ts";
import type { CachedDecoder } from "../models/decode/cached-decoder.ts";
import type { KeyValues } from "../models/decode/key-values.ts";

/** Tokens of a block: prompts are read block by block. */
export const blockLength = 64;

/**
 * Tokens whose keys and values are kept together: a block, or less where a row's numbers don't depend on where a run begins, nor on whether it has whole
 * blocks. A prompt then reads less of the one before again: up to 15 tokens, not 63.
 */
export function keptLength({
  isSplitInvariant,
  readsBlocksApart,
}: Pick<CachedDecoder, "isSplitInvariant" | "readsBlocksApart">): number {
  return isSplitInvariant && !readsBlocksApart ? 16 : blockLength;
}

/** What is kept of a block: its keys and values, and its routers' ties, by their positions in the prompt. */
export interface PromptBlock extends KeyValues {
  ties?: RouterTies;
}

/** Keys and values of blocks of prompts, by all tokens up to their end; the least recently used go first. */
export interface PrefixStore {
  /** The blocks from the start of `keys` that are kept. */
  find(keys: readonly string[]): PromptBlock[];
  /** Keeps a block, [1, heads, keptLength, size] a layer, of the weights that `origin` names. */
  keep(key: string, block: PromptBlock, origin: string): void;
  /** The same in memory that is given back for it: beyond the limit, until that is set anew. */
  keepBeyond(key: string, block: PromptBlock, origin: string): void;
  has(key: string): boolean;
  /** Keeps nothing of some weights any more. */
  forget(origin: string): void;
  /** How many bytes it may hold from now on. */
  limit(bytes: number): void;
}

interface KeptBlock {
  block: PromptBlock;
  origin: string;
}

/** A store without blocks, that may hold none until its limit is set. */
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
