import { type Html, html } from "../html.ts";
import { round } from "./scale.ts";

/** A point of a drawing, in pixels from its upper left corner. */
export type Point = readonly [x: number, y: number];

/** A straight line. `style` is its class in style.ts, here and below. */
export function segment(style: string, [x1, y1]: Point, [x2, y2]: Point): Html {
  return html`<line class="${style}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

/** A filled circle. */
export function disc(style: string, [x, y]: Point, radius: number): Html {
  return html`<circle class="${style}" cx="${round(x)}" cy="${round(y)}" r="${radius}"/>`;
}

/** A rectangle between two corners, the upper left one first. */
export function box(style: string, [x, y]: Point, [right, bottom]: Point): Html {
  const size = html`width="${round(right - x)}" height="${round(bottom - y)}"`;
  return html`<rect class="${style}" x="${round(x)}" y="${round(y)}" ${size}/>`;
}

/** A text whose start, center or end is at a point on its baseline. */
export function label(
  style: string,
  [x, y]: Point,
  content: string,
  anchor: "start" | "middle" | "end",
): Html {
  return html`<text class="${style}" text-anchor="${anchor}" x="${round(x)}" y="${round(y)}">${content}</text>`;
}

/** A part of a drawing with a text that appears while the pointer is on it. */
export function hint(style: string, text: string, ...content: Html[]): Html {
  return html`<g class="${style}">${content}<title>${text}</title></g>`;
}
