import type { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { imageHeader } from "../../chat/images/image-header.ts";
import type { Frame, Media } from "../../contracts/generated/trajectory.ts";
import { isNumber } from "./checked-answer.ts";

/** An image, which has one frame, or a video. */
export interface CheckedMedia extends Omit<Media, "frames"> {
  frames: CheckedFrame[];
}

/** An image with its own copy of its bytes. */
export interface CheckedFrame extends Omit<Frame, "sha256" | "bytes"> {
  data: Uint8Array;
}

type Refuse = (expected: string) => EverturnError;

/** Validates an image in a tool's answer. Throws the error from `refuse`. */
export function checkedImage(part: Record<string, unknown>, place: string, refuse: Refuse): CheckedMedia {
  const name = checkedName(part, place, refuse);
  return defined({
    type: "image",
    name,
    frames: [frameOf(part.data, declaredType(part, place, refuse), `${place}.data`, refuse)],
  });
}

/** Validates a video in a tool's answer. Throws the error from `refuse`. */
export function checkedVideo(part: Record<string, unknown>, place: string, refuse: Refuse): CheckedMedia {
  const { frames, framesPerSecond } = part;
  if (!Array.isArray(frames) || frames.length === 0)
    throw refuse(`“${place}.frames” must be a list of images`);
  if (framesPerSecond !== undefined && !(isNumber(framesPerSecond) && framesPerSecond > 0))
    throw refuse(`“${place}.framesPerSecond” must be a number above 0`);
  const declared = declaredType(part, place, refuse);
  const name = checkedName(part, place, refuse);
  return defined({
    type: "video",
    name,
    frames: frames.map((data, index) => frameOf(data, declared, `${place}.frames[${index}]`, refuse)),
    framesPerSecond,
  });
}

/** The text that the model reads in place of an image or a video. Equal answers have equal texts. */
export function mediaNote({ type, frames, name }: CheckedMedia, number: number): string {
  const [first] = frames;
  const kind = first?.mediaType.replace(/^image\//, "").replace(/\+xml$/, "") ?? "";
  const size = first?.width === undefined ? "" : `${first.width}×${first.height} `;
  const length = type === "image" ? "" : `${frames.length} ${frames.length === 1 ? "frame" : "frames"}, `;
  return `[${name ?? `${type} ${number}`}: ${length}${size}${kind}]`;
}

/** The name of an image or a video in a tool's answer. Undefined if it has none. */
function checkedName({ name }: Record<string, unknown>, place: string, refuse: Refuse): string | undefined {
  if (name === undefined) return undefined;
  if (typeof name === "string" && /^[^\p{C}\p{Zl}\p{Zp}[\]]{1,100}$/u.test(name)) return name;
  throw refuse(`“${place}.name” must be a text in one line, of 100 characters at most and without brackets`);
}

function frameOf(given: unknown, declared: string | undefined, place: string, refuse: Refuse): CheckedFrame {
  const data = bytesOf(given);
  if (data === undefined || data.length === 0)
    throw refuse(`“${place}” must be the bytes of an image, a Uint8Array or base64`);
  const { mediaType = declared, ...size } = imageHeader(data);
  if (mediaType === undefined)
    throw refuse(`“${place}” has no header that shows its type: set mediaType, for example image/png`);
  return { data, mediaType, ...size };
}

function declaredType(
  { mediaType, mimeType }: Record<string, unknown>,
  place: string,
  refuse: Refuse,
): string | undefined {
  const declared = mediaType ?? mimeType;
  if (declared === undefined) return undefined;
  if (typeof declared === "string" && /^image\/[a-z0-9.+-]+$/i.test(declared)) return declared.toLowerCase();
  throw refuse(`“${place}.mediaType” must be that of an image, for example image/png`);
}

/** Copies bytes, because a view would transfer its whole buffer. */
function bytesOf(given: unknown): Uint8Array | undefined {
  if (given instanceof Uint8Array) return new Uint8Array(given);
  const isBase64 = typeof given === "string" && /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(given);
  return isBase64 ? new Uint8Array(Buffer.from(given, "base64")) : undefined;
}
