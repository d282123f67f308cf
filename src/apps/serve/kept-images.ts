import { createHash } from "node:crypto";

/** Images of requests, in memory. */
export interface KeptImages {
  /** Keeps an image and returns its SHA-256. */
  keep(data: Uint8Array): Promise<string>;
  /** Throws an error if the image was dropped. */
  read(sha256: string): Promise<Uint8Array>;
}

/** Keeps at most `limit` bytes. Beyond that, the images that were used least recently are dropped. */
export function keptImages(limit = 2 ** 28): KeptImages {
  /** By recency of use, the latest last. */
  const images = new Map<string, Uint8Array>();
  let held = 0;

  function hold(sha256: string, data: Uint8Array): void {
    if (!images.delete(sha256)) held += data.length;
    images.set(sha256, data);
    for (const [oldest, { length }] of images) {
      if (held <= limit || images.size === 1) return;
      images.delete(oldest);
      held -= length;
    }
  }

  return {
    keep: async (data) => {
      const sha256 = createHash("sha256").update(data).digest("hex");
      hold(sha256, data);
      return sha256;
    },
    read: async (sha256) => {
      const data = images.get(sha256);
      if (data === undefined) throw new Error(`the image ${sha256} is not kept any more: send it again`);
      hold(sha256, data);
      return data;
    },
  };
}
