import { open } from "node:fs/promises";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { ahead } from "../../../base/async/ahead.ts";
import { writerOf } from "../../../base/files/temporary-name.ts";
import { treeFileOf } from "../tree-paths.ts";
import { s3Client } from "./client.ts";
import { throwWrite } from "./failures.ts";
import { type S3Place, s3Address } from "./place.ts";

/** Larger files are uploaded in parts of this size, in bytes. */
export const partSize = 16 * 2 ** 20;

/** The most parts that S3 allows. */
const mostParts = 10_000;

/** Parts that are uploaded at the same time. */
const partsAtOnce = 4;

/** How long another machine's unfinished upload is left alone, in ms. */
const foreignAge = 24 * 60 * 60_000;

/** Uploads a file of `size` bytes in parts. If that fails, no part stays. */
export async function uploadParts(
  client: S3Client,
  at: { Bucket: string; Key: string },
  file: string,
  size: number,
): Promise<void> {
  const length = Math.max(partSize, Math.ceil(size / mostParts));
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const upload = { ...at, UploadId };
  const opened = await open(file);
  try {
    const numbers = Array.from({ length: Math.ceil(size / length) }, (_, index) => index + 1);
    const uploads = ahead(numbers, partsAtOnce, async (PartNumber): Promise<CompletedPart> => {
      const start = (PartNumber - 1) * length;
      const Body = Buffer.allocUnsafe(Math.min(length, size - start));
      await opened.read(Body, 0, Body.length, start);
      const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
      return { PartNumber, ETag };
    });
    const Parts: CompletedPart[] = [];
    for await (const part of uploads) Parts.push(part);
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  } catch (error) {
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {}); // a later sweep does otherwise
    throw error;
  } finally {
    await opened.close();
  }
}

/**
 * Aborts the uploads of processes that have ended, and other machines' uploads that began more than a day ago. Their
 * parts take space, and no listing of objects shows them. Returns their number.
 */
export async function abortLeftUploads(place: S3Place): Promise<number> {
  const client = s3Client();
  try {
    let aborted = 0;
    for await (const { Key = "", UploadId, Initiated } of uploadsIn(client, place)) {
      if (!isLeft(Key.slice(place.prefix.length), Initiated)) continue;
      await client.send(new AbortMultipartUploadCommand({ Bucket: place.bucket, Key, UploadId }));
      aborted++;
    }
    return aborted;
  } catch (error) {
    return throwWrite(error, s3Address(place));
  }
}

async function* uploadsIn(client: S3Client, place: S3Place): AsyncGenerator<MultipartUpload> {
  const where = { Bucket: place.bucket, Prefix: place.prefix };
  for (let from = {}; ; ) {
    const page = await client.send(new ListMultipartUploadsCommand({ ...where, ...from }));
    yield* page.Uploads ?? [];
    if (page.IsTruncated !== true) return;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}

function isLeft(path: string, initiated: Date | undefined): boolean {
  const writer = writerOf(`.${treeFileOf(path)?.attempt}.tmp`);
  if (writer?.isRunning !== undefined) return !writer.isRunning;
  return initiated !== undefined && Date.now() - initiated.getTime() > foreignAge;
}
