import { readFileSync } from "node:fs";

/**
 * The text of a kernel file; "" if it does not exist, for example because the process has ended or the system is not
 * Linux.
 */
export function kernelText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
