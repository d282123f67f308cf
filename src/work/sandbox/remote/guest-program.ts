import { randomBytes } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../../../contracts/json.ts";
import { guestText, javascriptText } from "../driver/texts.ts";
import type { Program, SandboxLimits } from "../sandbox.ts";

/** A program in the form for a server: Python code that runs it, an input file and an output file. */
export interface GuestProgram {
  /** A Python program that runs in a working folder of its own. */
  code: string;
  /** The file that must be in this folder, and its content. */
  asked: { name: string; content: Buffer };
  /** The JSON file that it writes to this folder, unless something brings it down. */
  answered: string;
  /** Seconds within which it ends, unless the server is slow. */
  time: number;
  /** The maximum bytes of its output file. */
  longest: number;
}

/** The guest prints this when the program begins. Without it, the server is at fault for a failure. */
export const begun = "begun";
/** The maximum seconds that the guest takes beyond the program's own time. */
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

/** Returns the guest's output. Undefined if it is invalid, because a program broke the guest. */
export function guestAnswer(content: Buffer | undefined): JsonObject | undefined {
  try {
    const answer: JsonValue = JSON.parse(String(content));
    return isObject(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}
