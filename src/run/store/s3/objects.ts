import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { storageError } from "../../../base/files/storage-errors.ts";
import { defined } from "../../../base/records/defined.ts";
import type { Backend } from "../backend.ts";
import type { FileObjects } from "../local-copies.ts";
import { s3Client } from "./client.ts";
import { statusOf, throwRead, throwWrite } from "./failures.ts";
import { partSize, uploadParts } from "./multipart.ts";
import { type S3Place, s3Address } from "./place.ts";

/** The objects of a place: every request of a store but those about multipart uploads. */
export type S3Objects = Pick<Backend, "put" | "get" | "size" | "digest" | "page"> & FileObjects;

/** Opens the objects of a place. It sends no request. */
export function s3Objects(place: S3Place): S3Objects {
  const client = s3Client();
  const at = (path: string) => ({ Bucket: place.bucket, Key: `${place.prefix}${path}` });
  const nameOf = (path: string) =>
    `${s3Address({ bucket: place.bucket, prefix: "" })}/${place.prefix}${path}`;

  /** What `take` makes of an object; undefined if there is none. */
  async function read<Result>(
    path: string,
    take: (answer: GetObjectCommandOutput) => Promise<Result>,
    range?: string,
  ): Promise<Result | undefined> {
    try {
      return await take(await client.send(new GetObjectCommand(defined({ ...at(path), Range: range }))));
    } catch (error) {
      if (isNamed(error, "NoSuchKey")) return undefined;
      return throwRead(error, nameOf(path));
    }
  }

  async function write<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      return throwWrite(error, nameOf(path));
    }
  }

  return {
    put: (path, content) =>
      write(path, async () => {
        try {
          await client.send(new PutObjectCommand({ ...at(path), Body: content, IfNoneMatch: "*" }));
          return true;
        } catch (error) {
          if (hasStatus(error, 412)) return false;
          throw error;
        }
      }),
    get: (path) => read(path, async ({ Body }) => (await Body?.transformToByteArray()) ?? new Uint8Array()),
    // Unlike HEAD, its answer distinguishes a missing object from a missing bucket.
    size: async (path) => {
      try {
        return await read(path, sizeIn, "bytes=0-0");
      } catch (error) {
        if (error instanceof Error && hasStatus(error.cause, 416)) return 0; // it is empty
        throw error;
      }
    },
    digest: (path) =>
      read(path, async ({ Body }) => {
        const sha256 = createHash("sha256");
        let size = 0;
        for await (const chunk of streamOf(Body)) {
          sha256.update(chunk);
          size += chunk.length;
        }
        return { size, sha256: sha256.digest("hex") };
      }),
    remove: (path) => write(path, async () => void (await client.send(new DeleteObjectCommand(at(path))))),
    page: async (prefix, after) => {
      try {
        const where = {
          Bucket: place.bucket,
          Prefix: `${place.prefix}${prefix}`,
          ContinuationToken: after,
        };
        const page = await client.send(new ListObjectsV2Command(defined(where)));
        const paths = (page.Contents ?? []).map(({ Key = "" }) => Key.slice(place.prefix.length));
        return defined({ paths, next: page.NextContinuationToken });
      } catch (error) {
        return throwRead(error, nameOf(prefix));
      }
    },
    upload: (path, file) =>
      write(path, async () => {
        const { size } = await stat(file);
        if (size > partSize) return uploadParts(client, at(path), file, size);
        const opened = await open(file);
        try {
          await client.send(new PutObjectCommand({ ...at(path), Body: await opened.readFile() }));
        } finally {
          await opened.close();
        }
      }),
    download: async (path, file) => {
      const content = async ({ Body }: GetObjectCommandOutput) => {
        const local = createWriteStream(file);
        let failed: unknown;
        local.on("error", (error) => (failed = storageError(error, file)));
        await pipeline(streamOf(Body), local).catch((error) => {
          throw failed ?? error;
        });
        return true;
      };
      return (await read(path, content)) ?? false;
    },
  };
}

function streamOf(body: GetObjectCommandOutput["Body"]): Readable {
  if (body instanceof Readable) return body;
  throw new TypeError("The S3 client has returned no stream.");
}

async function sizeIn({ ContentRange, ContentLength, Body }: GetObjectCommandOutput): Promise<number> {
  await Body?.transformToByteArray(); // frees the connection
  return Number(ContentRange?.split("/").at(-1) ?? ContentLength);
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Error && statusOf(error) === status;
}
