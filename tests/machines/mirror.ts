import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { s3Place } from "../../src/run/store/s3/place.ts";

/** Objects that are fetched at once. */
const atOnce = 16;

/**
 * Copies the objects of a run whose paths `wanted` accepts from its store to `folder`, where they lie as in a run's
 * folder. A file that is there already is not copied again. Throws what the client throws.
 */
export async function mirrorRun(options: {
  client: S3Client;
  store: string;
  run: string;
  folder: string;
  wanted: (path: string) => boolean;
}): Promise<void> {
  const { client, store, run, folder, wanted } = options;
  const { bucket, prefix } = s3Place(store);
  const begin = `${prefix}${run}/`;

  async function fetchOne(path: string): Promise<void> {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: `${begin}${path}` }));
      const content = (await Body?.transformToByteArray()) ?? new Uint8Array();
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    } catch (error) {
      if (!(error instanceof Error && error.name === "NoSuchKey")) throw error; // it was removed since it was listed
    }
  }

  let next: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: begin, ContinuationToken: next }),
    );
    const paths = (page.Contents ?? []).map(({ Key = "" }) => Key.slice(begin.length));
    const missing = paths.filter((path) => wanted(path) && !existsSync(join(folder, path)));
    while (missing.length > 0) await Promise.all(missing.splice(0, atOnce).map(fetchOne));
    next = page.NextContinuationToken;
  } while (next !== undefined);
}
