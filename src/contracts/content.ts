import type { JsonValue } from "./json.ts";

/** A part of what a tool answers: blocks of MCP's tool results fit. */
export type ContentPart = TextPart | JsonPart | ImagePart | VideoPart;

export interface TextPart {
  type: "text";
  text: string;
}

/** Told to the model as JSON in one line, its keys as they stand. */
export interface JsonPart {
  type: "json";
  value: JsonValue;
}

/** The bytes of an image, as they are or in base64. */
export type ImageData = Uint8Array | string;

/** What kind of image it is, for example image/png. Needed only where its own header does not say so. */
export interface ImageKind {
  mediaType?: string;
  /** MCP's word for it. */
  mimeType?: string;
}

export interface ImagePart extends ImageKind {
  type: "image";
  /** What the model's text calls it, in place of its kind and number in the answer: a name by which later calls find it again. */
  name?: string;
  data: ImageData;
}

/** Frames in order, each an image. */
export interface VideoPart extends ImageKind {
  type: "video";
  /** As an image's. */
  name?: string;
  frames: ImageData[];
  framesPerSecond?: number;
}
