import { hash } from "node:crypto";

/** The most tokens of prompts whose keys are kept (16 MiB). The least recently used are dropped first. */
const tokenLimit = 2 ** 22;

/**
 * Returns a name for each whole block of a prompt. The name identifies `origin` and all tokens up to the block's end.
 * If the prompt begins like the last one of its `trajectory`, only the added blocks cost time.
 */
export type BlockKeys = (origin: string, trajectory: string, tokens: readonly number[]) => string[];

/** Creates the keys of blocks with `blockLength` tokens. No prompts are known yet. */
export function createBlockKeys(blockLength: number, limit: number = tokenLimit): BlockKeys {
  /** By recency of use, the latest last. */
  const known = new Map<string, { tokens: Int32Array; keys: string[] }>();
  let held = 0;

  const forget = (name: string) => {
    held -= known.get(name)?.tokens.length ?? 0;
    known.delete(name);
  };

  return (origin, trajectory, prompt) => {
    const name = `${origin}\n${trajectory}`;
    const tokens = new Int32Array(prompt);
    const before = known.get(name);
    const keys =
      before === undefined ? [] : before.keys.slice(0, sharedBlocks(before.tokens, tokens, blockLength));
    for (let end = (keys.length + 1) * blockLength; end <= tokens.length; end += blockLength) {
      const start = Buffer.from(`${keys.at(-1) ?? origin}\n`);
      const block = bytesOf(tokens.subarray(end - blockLength, end));
      keys.push(hash("sha256", Buffer.concat([start, block]), "base64"));
    }
    forget(name);
    known.set(name, { tokens, keys });
    held += tokens.length;
    for (const oldest of known.keys()) {
      if (held <= limit) break;
      forget(oldest);
    }
    return keys;
  };
}

/** Returns the number of whole blocks that two prompts share at their start. */
function sharedBlocks(a: Int32Array, b: Int32Array, blockLength: number): number {
  const blocks = Math.floor(Math.min(a.length, b.length) / blockLength);
  const same = (from: number, to: number) => {
    const cut = (tokens: Int32Array) => bytesOf(tokens.subarray(from * blockLength, to * blockLength));
    return cut(a).equals(cut(b));
  };
  if (same(0, blocks)) return blocks;
  let shared = 0;
  while (same(shared, shared + 1)) shared++;
  return shared;
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
