import { EverturnError } from "../../../base/errors/everturn-error.ts";

/** A place in a bucket of an S3-compatible server. */
export interface S3Place {
  bucket: string;
  /** How the keys of its objects begin: "", or names that end in `/`. */
  prefix: string;
}

/** Whether a text is meant as an address of this kind of store. */
export function isS3Address(text: string): boolean {
  return text.startsWith("s3:");
}

/** The place at an address `s3://bucket/prefix`. Throws STORE_ADDRESS_INVALID. */
export function s3Place(address: string): S3Place {
  const [, bucket = "", rest = ""] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(address) ?? [];
  if (bucket === "") throw invalid(address, "it must be s3://BUCKET or s3://BUCKET/PREFIX");
  const names = rest.replace(/\/+$/, "");
  if (names === "") return { bucket, prefix: "" };
  if (!/^[A-Za-z0-9!_.*'()=/-]+$/.test(names) || names.split("/").some((name) => /^\.{0,2}$/.test(name)))
    throw invalid(
      address,
      "its prefix may contain only names of letters, digits and -_.!*'()=, separated by /",
    );
  return { bucket, prefix: `${names}/` };
}

/** The address of a place. */
export function s3Address({ bucket, prefix }: S3Place): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, "");
}

function invalid(address: string, reason: string): EverturnError {
  return new EverturnError("STORE_ADDRESS_INVALID", { address, reason });
}

/** The URL of the server in the environment, if that is not Amazon's. */
export function otherServer(): string | undefined {
  return process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
}

/** The place of a run's objects in the store at a place. */
export function placeOfRun({ bucket, prefix }: S3Place, run: string): S3Place {
  return { bucket, prefix: `${prefix}${run}/` };
}
