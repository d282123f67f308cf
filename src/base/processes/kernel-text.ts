import { readFileSync } from "node:fs";

/** The text of a file of the kernel's; nothing where there is none, as of a process that has ended, or on another system than Linux. */
export function kernelText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
