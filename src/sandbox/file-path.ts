import { posix } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";

/** The path of a session's file, in its plain form. Throws SANDBOX_PATH_INVALID for one that is not below the working folder. */
export function filePath(path: string): string {
  const plain = posix.normalize(path);
  const isBelow = plain !== "." && !plain.startsWith("/") && !plain.split("/").includes("..");
  if (!isBelow || plain.endsWith("/") || plain.includes("\0"))
    throw new EverturnError("SANDBOX_PATH_INVALID", { path });
  return plain;
}
