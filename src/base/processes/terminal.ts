import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";

/** Controls of C0 and C1 but tab and line feed, and characters that turn the direction of text. */
const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Makes visible what would steer a terminal. In a JSON text what it writes stands for the same characters. */
export function visible(text: string): string {
  return text.replace(steering, (one) => `\\u${codeOf(one)}`);
}

/** No other text has it. */
const mark = `\u{F0000}${randomUUID()}`;

/** Text whose control characters are Everturn's own, such as colors: `terminalText` lets them through. */
export function steeringText(text: string): string {
  return text.replace(steering, (one) => mark + codeOf(one));
}

/** What a terminal gets of a text: the control characters of `steeringText`, and how all others are written. */
export function terminalText(text: string): string {
  const [first = "", ...rest] = visible(text).split(mark);
  const own = rest.map((part) => String.fromCharCode(Number.parseInt(part.slice(0, 4), 16)) + part.slice(4));
  return first + own.join("");
}

function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}

/**
 * From now on whatever this process writes on standard output and error is `terminalText`: what models, tools, and files say can't
 * steer the terminal, wherever it is printed.
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
