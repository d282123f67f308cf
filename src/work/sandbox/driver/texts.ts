import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The program of a sandbox's first process. */
export function driverText(): string {
  return [...common, "serve.py"].map(text).join("\n");
}

/** The program that runs a single program in an environment that is already isolated. */
export function guestText(): string {
  return ["clean.py", ...common, "guest.py"].map(text).join("\n");
}

/** The part of both that runs JavaScript. */
export function javascriptText(): string {
  return text("javascript.cjs");
}

const common = ["interpreter.py", "files.py", "execution.py", "driver.py"];

function text(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}
