import { randomBytes } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../../../contracts/json.ts";
import { guestText, javascriptText } from "../driver/texts.ts";
import type { Program, SandboxLimits } from "../sandbox.ts";

/** A program as a server gets it: Python that runs it, with a file that it reads, and one that it leaves behind. */
export interface GuestProgram {
  /** A Python program for a working folder of its own. */
  code: string;
  /** The file that must lie there, and its content. */
  asked: { name: string; content: Buffer };
  /** The file that it writes there, if nothing brings it down: JSON. */
  answered: string;
  /** Seconds until it has surely ended, if the server is not slow. */
  time: number;
  /** Bytes that the file which it writes may have. */
  longest: number;
}

/** What the guest prints when the program begins. Without that, what went wrong is the server's doing. */
export const begun = "begun";
/** Seconds beyond the program's own that the guest takes at most. */
const patience = 10;

/** Wraps a program with the files of its session. */
export function guestProgram(
  { language, code, stdin = "" }: Program,
  limits: SandboxLimits,
  files: Record<string, string>,
): GuestProgram {
  const name = `everturn-${randomBytes(8).toString("hex")}`;
  const [asked, answered] = [`${name}.asked.json`, `${name}.answered.json`];
  const javascript = language === "javascript" ? javascriptText() : "";
  const request: JsonObject = {
    language,
    code,
    stdin: stdin.toWellFormed(),
    keep: false,
    files,
    javascript,
    limits: { ...limits },
  };
  return {
    code: `${guestText()}\nrun("${asked}", "${answered}")\n`,
    asked: { name: asked, content: Buffer.from(JSON.stringify(request)) },
    answered,
    time: limits.time + patience,
    longest: 2 * limits.disk * 2 ** 20 + 32 * limits.output + 65_536,
  };
}

/** What the guest wrote; undefined if that is nothing of its: a program has broken it. */
export function guestAnswer(content: Buffer | undefined): JsonObject | undefined {
  try {
    const answer: JsonValue = JSON.parse(String(content));
    return isObject(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}
