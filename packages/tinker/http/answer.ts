import { badAnswer } from "./json.ts";

/** A complete answer of the server. */
export class Answer {
  readonly status: number;
  /** The media type in lower case, without parameters. */
  readonly mediaType: string;
  /** Seconds until the next attempt that the server asked for, if it did. */
  readonly retryAfter: number | undefined;
  readonly bytes: Uint8Array;

  constructor(status: number, headers: Headers, bytes: Uint8Array) {
    this.status = status;
    this.mediaType = (headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
    this.retryAfter = secondsOf(headers.get("retry-after"));
    this.bytes = bytes;
  }

  get isProtobuf(): boolean {
    return this.mediaType === "application/x-protobuf";
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** The body's JSON value. Throws `bad-answer`. */
  json(): unknown {
    const { text } = this;
    try {
      return JSON.parse(text);
    } catch (error) {
      throw badAnswer(`${this.mediaType || "no media type"}, which starts with ${start(text)}`, error);
    }
  }
}

function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

function start(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
