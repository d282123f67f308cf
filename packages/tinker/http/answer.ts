import { badAnswer } from "./json.ts";

/** A complete answer of the server. */
export class Answer {
  readonly status: number;
  /** The media type in lower case, without parameters. */
  readonly mediaType: string;
  /** Seconds until the next attempt that the server asked for, if it did. */
  readonly retryAfter: number | undefined;
  /** Whether the server asked not to be asked again. */
  readonly forbidsRetry: boolean;
  /** Whether the server rejected the key or token itself as invalid or expired (RFC 6750). */
  readonly rejectsToken: boolean;
  readonly bytes: Uint8Array;

  constructor(status: number, headers: Headers, bytes: Uint8Array) {
    this.status = status;
    this.mediaType = (headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
    this.retryAfter = pauseOf(headers);
    this.forbidsRetry = headers.get("x-should-retry") === "false";
    const isInvalid = (headers.get("www-authenticate") ?? "").includes('error="invalid_token"');
    this.rejectsToken = status === 401 && isInvalid;
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

/** `Retry-After-Ms` is not a standard, but Tinker's SDK reads it first. */
function pauseOf(headers: Headers): number | undefined {
  const milliseconds = numberOf(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds / 1000;
  const header = headers.get("retry-after");
  const seconds = numberOf(header) ?? (Date.parse(header ?? "") - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

function numberOf(header: string | null): number | undefined {
  return header !== null && /^\d+(\.\d+)?$/.test(header) ? Number(header) : undefined;
}

function start(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
