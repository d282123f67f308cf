import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Store } from "./store.ts";

/** Returns the bytes of an image that a run's store holds. Throws RECORD_CORRUPT if they are gone or changed. */
export async function readStoredImage(store: Pick<Store, "readBytes">, sha256: string): Promise<Uint8Array> {
  const bytes = await store.readBytes(sha256);
  if (bytes !== undefined) return bytes;
  throw new EverturnError("RECORD_CORRUPT", {
    file: `bytes ${sha256}`,
    reason: "they are gone, or changed",
  });
}
