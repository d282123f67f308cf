import { setTimeout as sleep } from "node:timers/promises";
import { littlePatience, type Patience, patiently, readingPatience } from "../../base/files/patiently.ts";
import type { Backend } from "./backend.ts";
import { generation } from "./generation-name.ts";

/** An object's value, or why it has none. */
export type Decoded<Value> = { value: Value } | { reason: string };

/** Decodes an object. */
export type Decode<Value> = (content: Uint8Array) => Decoded<Value> | Promise<Decoded<Value>>;

/** Receives the path of an unreadable object, and the reason. */
export type Report = (path: string, reason: string) => void;

/** Objects that are written once. An unreadable one counts as absent, and the next one replaces it. */
export interface Generations {
  /** Stores the object. Returns the current one if that differs, and undefined if it is this one. */
  put<Value>(
    path: string,
    content: Uint8Array,
    decode: Decode<Value>,
    options: { flush: boolean; waits?: boolean },
  ): Promise<{ value: Value } | undefined>;
  /** The current object. */
  read<Value>(path: string, decode: Decode<Value>): Promise<{ value: Value } | undefined>;
  /** The last readable object of all generations. */
  newest<Value>(path: string, decode: Decode<Value>): Promise<{ value: Value } | undefined>;
  /**
   * Removes the current object first, then those that it replaced. No object that was replaced becomes current on
   * the way.
   */
  remove(path: string): Promise<void>;
}

/** How long a path may be taken while its object is missing, in ms: a network file system caches absence. */
const longestDoubt = 90_000;

/** The generations of a backend's objects. */
export function generationsOf(backend: Backend, report: Report): Generations {
  /** One object. It is read twice if it seems broken. */
  async function look<Value>(name: string, decode: Decode<Value>, patience: Patience = readingPatience) {
    let reason = "";
    for (let tries = 0; tries < 2; tries++) {
      const content = await patiently(() => backend.get(name), patience);
      if (content === undefined) return undefined;
      const decoded = await decode(content);
      if ("value" in decoded) return { ...decoded, content };
      reason = decoded.reason;
    }
    report(name, reason);
    return { reason };
  }

  return {
    put: async (path, content, decode, { flush, waits = true }) => {
      const started = Date.now();
      for (let replaced = 0; ; ) {
        const name = generation(path, replaced);
        const put = () => backend.put(name, content, { flush });
        if (await patiently(put, waits ? undefined : littlePatience)) return undefined;
        const found = await look(name, decode, waits ? undefined : littlePatience);
        if (found === undefined) {
          if (Date.now() - started > longestDoubt) throw new Error(`${name} is taken, but is not there.`);
          await sleep(20); // removed meanwhile, or not visible yet
        } else if ("reason" in found) {
          replaced++;
        } else {
          return Buffer.compare(found.content, content) === 0 ? undefined : { value: found.value };
        }
      }
    },
    read: async (path, decode) => {
      for (let replaced = 0; ; replaced++) {
        const found = await look(generation(path, replaced), decode);
        if (found === undefined) return undefined;
        if ("value" in found) return { value: found.value };
      }
    },
    newest: async <Value>(path: string, decode: Decode<Value>) => {
      let newest: { value: Value } | undefined;
      for (let replaced = 0; ; replaced++) {
        const found = await look(generation(path, replaced), decode);
        if (found === undefined) return newest;
        if ("value" in found) newest = { value: found.value };
      }
    },
    remove: async (path) => {
      let last = 0;
      const size = (name: string) => patiently(() => backend.size(name), readingPatience);
      while ((await size(generation(path, last + 1))) !== undefined) last++;
      for (let replaced = last; replaced >= 0; replaced--) {
        await patiently(() => backend.remove(generation(path, replaced)));
      }
    },
  };
}
