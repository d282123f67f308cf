import { S3ServiceException } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { failureOf, throwRead, throwWrite } from "../../../../../src/run/store/s3/failures.ts";

/** What the client throws for an answer. */
function answered(name: string, httpStatusCode: number): Error {
  const message = `about ${name}`;
  return new S3ServiceException({ name, message, $fault: "client", $metadata: { httpStatusCode } });
}

/** What the client throws without an answer. */
function unanswered(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, $metadata: { attempts: 5 } });
}

test.each([
  ["NoSuchBucket", 404, /create the bucket/],
  ["AccessDenied", 403, /s3:PutObject/],
  ["SignatureDoesNotMatch", 403, /AWS_SECRET_ACCESS_KEY/],
  ["PermanentRedirect", 301, /AWS_REGION/],
  ["Forbidden", 403, /403/],
])("%s is a mistake, and says what to do", (name, status, words) => {
  expect(failureOf(answered(name, status))).toMatchObject({ isMistake: true, isFull: false });
  expect(failureOf(answered(name, status))?.reason).toMatch(words);
});

test.each([
  answered("SlowDown", 503),
  answered("InternalError", 500),
  answered("ConditionalRequestConflict", 409),
  unanswered("ECONNREFUSED"),
  Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }),
])("%s may pass, so reads and writes wait", (error) => {
  expect(failureOf(error)).toMatchObject({ isMistake: false });
  expect(() => throwRead(error, "s3://runs/a")).toThrow(
    expect.objectContaining({ code: "STORE_NOT_READABLE" }),
  );
  expect(() => throwWrite(error, "s3://runs/a")).toThrow(
    expect.objectContaining({ code: "STORE_NOT_WRITABLE" }),
  );
});

test("a full server is a full disk", () => {
  const full = expect.objectContaining({ code: "DISK_FULL" });
  expect(() => throwWrite(answered("InsufficientStorage", 507), "s3://runs/a")).toThrow(full);
  expect(() => throwWrite(answered("QuotaExceeded", 403), "s3://runs/a")).toThrow(full);
});

test("an error of the program or of a local disk stays what it is", () => {
  for (const error of [
    new TypeError("undefined is not a function"),
    Object.assign(new Error("no space"), { code: "ENOSPC" }),
  ]) {
    expect(failureOf(error)).toBeUndefined();
    expect(() => throwWrite(error, "s3://runs/a")).toThrow(error);
  }
});
