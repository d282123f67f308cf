import type { Backend } from "../../src/run/store/backend.ts";
import { folderBackend } from "../../src/run/store/folder-backend.ts";
import { objectBackend } from "./object-backend.ts";

/** Where a backend of the tests is, as another process is told. */
export type BackendPlace = { root: string } | { port: number; cache: string };

/** Opens one. Its local copies take 100,000 bytes. */
export function openBackend(place: BackendPlace): Backend {
  if ("root" in place) return folderBackend(place.root);
  return objectBackend(place.port, { cache: place.cache, limit: 100_000 });
}
