import type { Backend } from "../../src/run/store/backend.ts";
import { folderBackend } from "../../src/run/store/folder-backend.ts";
import { s3Backend } from "../../src/run/store/s3/backend.ts";
import { s3Place } from "../../src/run/store/s3/place.ts";
import { objectBackend } from "./object-backend.ts";

/** Where a backend of the tests is, as another process is told. */
export type BackendPlace = { root: string } | { port: number; cache: string } | { address: string };

/** Opens one. Local copies of objects that the tests serve take 100,000 bytes. */
export function openBackend(place: BackendPlace): Backend {
  if ("root" in place) return folderBackend(place.root);
  if ("address" in place) return s3Backend(s3Place(place.address));
  return objectBackend(place.port, { cache: place.cache, limit: 100_000 });
}
