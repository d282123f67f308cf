import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";

/**
 * The control characters of C0 and C1 except tab and line feed, and characters that change the direction of text.
 */
const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes characters that would control a terminal. In a JSON text the escapes stand for the same characters. */
export function visible(text: string): string {
  return text.replace(steering, (one) => `\\u${codeOf(one)}`);
}

/** Random, so that no other text contains it. */
const mark = `\u{F0000}${randomUUID()}`;

/** Marks text whose control characters, such as colors, are Everturn's own, so that `terminalText` keeps them. */
export function steeringText(text: string): string {
  return text.replace(steering, (one) => mark + codeOf(one));
}

/** The text to send to a terminal: it keeps the control characters of `steeringText` and escapes all others. */
export function terminalText(text: string): string {
  const [first = "", ...rest] = visible(text).split(mark);
  const own = rest.map((part) => String.fromCharCode(Number.parseInt(part.slice(0, 4), 16)) + part.slice(4));
  return first + own.join("");
}

function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}

/**
 * From now on everything that this process writes to standard output and error passes through `terminalText`, so
 * text from models, tools and files can't control the terminal.
 */
export function guardTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    const decoder = new StringDecoder("utf8");
    stream.write = (
      chunk: string | Uint8Array,
      encoding?: BufferEncoding | ((error?: Error | null) => void),
      done?: (error?: Error | null) => void,
    ) => {
      const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk));
      return write(terminalText(text), typeof encoding === "function" ? encoding : done);
    };
  }
}
