import type { JsonValue } from "./json.ts";

/** A part of a tool's answer. The content blocks of MCP's tool results fit. */
export type ContentPart = TextPart | JsonPart | ImagePart | VideoPart;

export interface TextPart {
  type: "text";
  text: string;
}

/** The model reads it as one line of JSON with its keys in their given order. */
export interface JsonPart {
  type: "json";
  value: JsonValue;
}

/** The bytes of an image, raw or in base64. */
export type ImageData = Uint8Array | string;

/** The media type of an image, for example image/png. Needed only if its header does not identify it. */
export interface ImageKind {
  mediaType?: string;
  /** MCP's name for `mediaType`. */
  mimeType?: string;
}

export interface ImagePart extends ImageKind {
  type: "image";
  /**
   * The image's name in the model's text, instead of its kind and number in the answer. Later calls can refer to it.
   */
  name?: string;
  data: ImageData;
}

/** Frames in order, each an image. */
export interface VideoPart extends ImageKind {
  type: "video";
  /** Like an image's `name`. */
  name?: string;
  frames: ImageData[];
  framesPerSecond?: number;
}
