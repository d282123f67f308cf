import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { defined } from "../../../base/records/defined.ts";
import { s3Client } from "./client.ts";
import { refusal, throwRead } from "./failures.ts";
import { type S3Place, s3Address } from "./place.ts";

/** The names directly below a place: its runs, and what else is there. Throws STORE_REFUSED and STORE_NOT_READABLE. */
export async function s3RunNames(place: S3Place): Promise<string[]> {
  const names: string[] = [];
  try {
    for (let after: string | undefined; ; ) {
      const where = { Bucket: place.bucket, Prefix: place.prefix, Delimiter: "/", ContinuationToken: after };
      const page = await s3Client().send(new ListObjectsV2Command(defined(where)));
      for (const { Prefix = "" } of page.CommonPrefixes ?? [])
        names.push(Prefix.slice(place.prefix.length, -1));
      after = page.NextContinuationToken;
      if (after === undefined) return names;
    }
  } catch (error) {
    return throwRead(refusal(s3Address(place), error), s3Address(place));
  }
}
