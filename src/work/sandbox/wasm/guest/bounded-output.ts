import type { FromInterpreter } from "./protocol.ts";

/**
 * Forwards a program's output as it comes, up to a number of characters per stream. Reports once when there
 * is too much.
 */
export class BoundedOutput {
  readonly #send: (message: FromInterpreter) => void;
  #left = { stdout: 0, stderr: 0 };
  #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #flooded = true;

  constructor(send: (message: FromInterpreter) => void) {
    this.#send = send;
  }

  /** Begins a program, which may write `characters` characters to each stream. */
  begin(characters: number): void {
    this.#left = { stdout: characters, stderr: characters };
    this.#decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    this.#flooded = false;
  }

  /** Output between programs is dropped. */
  end(): void {
    this.#left = { stdout: 0, stderr: 0 };
    this.#flooded = true;
  }

  /** Takes bytes of UTF-8. */
  write(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    this.text(stream, this.#decoders[stream].decode(bytes, { stream: true }));
  }

  text(stream: "stdout" | "stderr", text: string): void {
    const left = this.#left[stream];
    if (left > 0 && text !== "") this.#send({ type: "output", stream, text: text.slice(0, left) });
    this.#left[stream] = Math.max(0, left - text.length);
    if (text.length <= left || this.#flooded) return;
    this.#flooded = true;
    this.#send({ type: "flooded" });
  }
}
