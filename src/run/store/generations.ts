import { setTimeout as sleep } from "node:timers/promises";
import { littlePatience, type Patience, patiently, readingPatience } from "../../base/files/patiently.ts";
import type { Backend } from "./backend.ts";
import { generation } from "./generation-name.ts";

/** What an object says, or why it says nothing. */
export type Decoded<Value> = { value: Value } | { reason: string };

/** How an object is understood. */
export type Decode<Value> = (content: Uint8Array) => Decoded<Value> | Promise<Decoded<Value>>;

/** Tells of an object that can't be read. */
export type Report = (path: string, reason: string) => void;

/** Objects that are put once, where what can't be read counts as absent and gives its place to the next one. */
export interface Generations {
  /** Puts the object; what stands if that is another one, undefined if it is this one. */
  put<Value>(
    path: string,
    content: Uint8Array,
    decode: Decode<Value>,
    options: { flush: boolean; waits?: boolean },
  ): Promise<{ value: Value } | undefined>;
  /** What stands. */
  read<Value>(path: string, decode: Decode<Value>): Promise<{ value: Value } | undefined>;
  /** The last of all that can be read. */
  newest<Value>(path: string, decode: Decode<Value>): Promise<{ value: Value } | undefined>;
  /** Removes what stands, then what it replaced: until all is gone, nothing counts that did not before. */
  remove(path: string): Promise<void>;
}

/** For how long a path may be taken with nothing there, ms: a network file system remembers what was absent. */
const longestDoubt = 90_000;

/** The generations of a backend's objects. */
export function generationsOf(backend: Backend, report: Report): Generations {
  /** One object. What seems broken is read twice. */
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
          await sleep(20); // removed since, or not seen yet
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
