import { styleText } from "node:util";
import { steeringText } from "../../../base/processes/terminal.ts";

/** A style of text on a terminal. */
type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan" | "blue" | "magenta";

/** Applies a style if the stream shows colors: it is a terminal, and NO_COLOR is not set. */
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

/** Joins spans into a line of at most `width` characters. Long text is cut before it is colored. */
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
