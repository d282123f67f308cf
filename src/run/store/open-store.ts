import { hash } from "node:crypto";
import { patiently, readingPatience } from "../../base/files/patiently.ts";
import { readPatiently } from "../../base/files/read-patiently.ts";
import { defined } from "../../base/records/defined.ts";
import type { Backend } from "./backend.ts";
import { decodeRecord, encodeRecord } from "./envelope.ts";
import { generationOf } from "./generation-name.ts";
import { type Decode, generationsOf, type Report } from "./generations.ts";
import type { Key } from "./key.ts";
import { scanBelow } from "./scan.ts";
import type { Store } from "./store.ts";
import { sweepTrees } from "./sweep-trees.ts";
import { openTrees } from "./trees.ts";

/**
 * A store over a backend. `onCorrupt` receives each unreadable object once, with the reason. A run's file names its
 * store by a URL. `folderBackend` serves local and shared folders.
 */
export function openStore(impatient: Backend, onCorrupt: Report): Store {
  const backend = patientBackend(impatient);
  const told = new Set<string>();
  const report: Report = (path, reason) => {
    if (!told.has(path)) onCorrupt(path, reason);
    told.add(path);
  };
  const generations = generationsOf(impatient, report);
  return {
    ...openTrees(backend, generations, report),
    record: async <Value>({ path }: Key<Value>, value: Value, { flush = false, waits = true } = {}) => {
      const decode: Decode<Value> = decodeRecord;
      const other = await generations.put(path, encodeRecord(value), decode, { flush, waits });
      return other === undefined ? value : other.value;
    },
    read: async <Value>({ path }: Key<Value>) => (await generations.read<Value>(path, decodeRecord))?.value,
    has: async ({ path }) => (await backend.size(path)) !== undefined,
    bytes: async (content) => {
      const sha256 = hash("sha256", content);
      await generations.put(bytesPath(sha256), content, checked(sha256), { flush: false });
      return sha256;
    },
    readBytes: async (sha256) => (await generations.read(bytesPath(sha256), checked(sha256)))?.value,
    hasBytes: async (sha256) => (await backend.size(bytesPath(sha256))) !== undefined,
    list: async ({ prefix }, after) => {
      const { paths, next } = await backend.page(prefix, after);
      const own = paths.map((path) => generationOf(path)).filter(({ replaced }) => replaced === 0);
      return defined({ paths: own.map(({ path }) => path), next });
    },
    remove: ({ path }) => generations.remove(path),
    scan: ({ prefix }) => scanBelow(backend, prefix),
    sweep: async ({ prefix }) => ({
      objects: await backend.sweep(),
      trees: await sweepTrees(backend, generations, prefix),
    }),
  };
}

/** The path of stored bytes below the root of a store. */
export function bytesPath(sha256: string): string {
  return `bytes/${sha256.slice(0, 2)}/${sha256}.bin`;
}

function checked(sha256: string): Decode<Uint8Array> {
  return (content) =>
    hash("sha256", content) === sha256
      ? { value: content }
      : { reason: "its content is not what its digest says" };
}

/**
 * A backend whose reads wait for a disk that does not answer (`patiently`). Work on its files is repeated after the
 * wait. Writes are unchanged, because their callers decide whether to wait.
 */
function patientBackend(backend: Backend): Backend {
  return {
    put: (...args) => backend.put(...args),
    get: (...args) => patiently(() => backend.get(...args), readingPatience),
    size: (...args) => patiently(() => backend.size(...args), readingPatience),
    digest: (...args) => patiently(() => backend.digest(...args), readingPatience),
    remove: (...args) => patiently(() => backend.remove(...args)),
    page: (...args) => patiently(() => backend.page(...args), readingPatience),
    fill: (...args) => backend.fill(...args),
    inFolder: (prefix, files, work, options) =>
      patiently(
        () => backend.inFolder(prefix, files, (folder) => readPatiently(folder, () => work(folder)), options),
        readingPatience,
      ),
    sweep: () => patiently(() => backend.sweep()),
  };
}
