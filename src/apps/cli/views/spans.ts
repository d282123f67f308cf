import { styleText } from "node:util";
import { steeringText } from "../../../base/processes/terminal.ts";

/** How text looks on a terminal. */
type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan" | "blue" | "magenta";

/** Applies a style where the stream shows colours: a terminal, unless NO_COLOR is set. */
export type Paint = (style: Style, text: string) => string;

/** The paint for `stream`. */
export function paintFor(stream: NodeJS.WritableStream & { isTTY?: boolean }): Paint {
  if (process.env.NO_COLOR) return (_style, text) => text;
  return (style, text) => {
    const [before = "", after = ""] = styleText(style, "x", { stream, validateStream: true }).split("x");
    return steeringText(before) + text + steeringText(after);
  };
}

/** A piece of a line, styled or not. */
export type Span = string | [Style, string];

/** Joins spans into a line of at most `width` characters; what is too long is cut before it is coloured. */
export function line(spans: readonly Span[], paint: Paint, width = Number.POSITIVE_INFINITY): string {
  let room = width;
  const parts = spans.map((span) => {
    const [style, text] = typeof span === "string" ? [undefined, span] : span;
    const shown = text.slice(0, room);
    room -= shown.length;
    return style === undefined || shown === "" ? shown : paint(style, shown);
  });
  return parts.join("");
}
