import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import type { Backend } from "../../src/run/store/backend.ts";
import type { OpenBackend } from "../../src/run/store/named-backend.ts";
import { objectBackend } from "./object-backend.ts";

/** Bytes of local copies. */
const limit = 2 ** 26;

/** The URL by which a run's file names the objects behind the `object-server.ts` at a port. */
export function objectsUrl(port: number): string {
  return `${import.meta.url}?port=${port}`;
}

/** Opens the objects of a run: they begin with its name. */
const openObjects: OpenBackend = (url, run) => {
  const cache = mkdtempSync(join(tmpdir(), "everturn-objects-"));
  process.on("exit", () => rmSync(cache, { recursive: true, force: true }));
  return below(objectBackend(Number(url.searchParams.get("port")), { cache, limit }), `${run}/`);
};
export default openObjects;

/** The objects whose paths begin with `start`, without it. */
function below(backend: Backend, start: string): Backend {
  return {
    put: (path, ...rest) => backend.put(start + path, ...rest),
    get: (path) => backend.get(start + path),
    size: (path) => backend.size(start + path),
    digest: (path) => backend.digest(start + path),
    remove: (path) => backend.remove(start + path),
    page: async (prefix, after) => {
      const page = await backend.page(start + prefix, after === undefined ? undefined : start + after);
      const paths = page.paths.map((path) => path.slice(start.length));
      return defined({ paths, next: page.next === undefined ? undefined : page.next.slice(start.length) });
    },
    fill: (prefix, write) => backend.fill(start + prefix, write),
    inFolder: (prefix, files, work) => backend.inFolder(start + prefix, files, work),
    sweep: () => backend.sweep(),
  };
}
