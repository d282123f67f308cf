// The main thread of a Deno process with interpreters. It never runs a program, so it can always receive
// Everturn's messages and enforce limits. It ends the process when Everturn is gone.
import { Interpreter } from "./interpreter.ts";
import type { FromGuest, GuestLanguage, Start, ToGuest } from "./protocol.ts";

const encoder = new TextEncoder();
const interpreters = new Map<GuestLanguage, Interpreter>();
let start: Start | undefined;

/** Writes a message on a line of its own, whatever was written before. */
function tell(message: FromGuest): void {
  const bytes = encoder.encode(`\n${start?.key} ${JSON.stringify(message)}\n`);
  for (let written = 0; written < bytes.length; ) written += Deno.stdout.writeSync(bytes.subarray(written));
}

async function heed(message: ToGuest): Promise<void> {
  if (message.type === "start") {
    start = message;
    return;
  }
  if (start === undefined) throw new Error("start comes first");
  const { language } = message;
  const interpreter = interpreters.get(language) ?? new Interpreter(language, start, tell);
  interpreters.set(language, interpreter);
  if (message.type === "prepare") {
    const reason = await interpreter.ready;
    tell(reason === undefined ? { type: "ready", language } : { type: "unusable", language, reason });
    return;
  }
  const ran = await interpreter.run(message);
  if (ran.lost) interpreters.delete(language);
  tell(ran);
}

const decoder = new TextDecoder();
let rest = "";
for await (const chunk of Deno.stdin.readable) {
  const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) void heed(JSON.parse(line));
}
Deno.exit(0);
