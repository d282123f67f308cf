import { type Html, html } from "../html.ts";
import { linear, type Scale } from "./scale.ts";
import { label, segment } from "./shapes.ts";

/** Colors in the order in which series take them. Each has a light and a dark value in style.ts. */
export type Colour = "blue" | "orange" | "aqua" | "violet";

/** Size and margins of a plot, in pixels. */
export interface Area {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The area of an ordinary plot. */
export const smallArea: Area = { width: 560, height: 220, left: 58, right: 16, top: 10, bottom: 36 };

/** The area of a plot over the whole width of the page. */
export const wideArea: Area = { width: 1160, height: 300, left: 58, right: 16, top: 10, bottom: 36 };

/** The area of every plot on a narrow page, such as a phone's, which also has no pointer to hover with. */
const narrowArea: Area = { width: 340, height: 210, left: 50, right: 14, top: 10, bottom: 36 };

/** Whether a drawing is for narrow pages, with short labels and no hover text. */
export function isNarrow(area: Area): boolean {
  return area.width === narrowArea.width;
}

/** How many step labels fit an area. */
export function columnsOf({ width }: Area): number {
  return Math.min(12, Math.floor(width / 70));
}

/** A plot's scales, with its grid and axes drawn. */
export interface Frame {
  x: Scale;
  y: Scale;
  axes: Html;
}

/**
 * Draws scales and axes: horizontal grid lines at `yTicks`, and labels of `xTicks` below. The ticks define the
 * domain of y.
 */
export function frame(
  area: Area,
  options: {
    xDomain: [number, number];
    xTicks: readonly number[];
    xLabel: string;
    yTicks: readonly number[];
    /** Formats the labels of y. */
    format: (value: number) => string;
    /** Formats the labels of x. Default: `String`. */
    xFormat?: (value: number) => string;
  },
): Frame {
  const { xDomain, xTicks, xLabel, yTicks, format, xFormat = String } = options;
  const right = area.width - area.right;
  const bottom = area.height - area.bottom;
  const x = linear(xDomain, [area.left, right]);
  const y = linear([yTicks[0] ?? 0, yTicks.at(-1) ?? 1], [bottom, area.top]);
  const rows = yTicks.flatMap((tick, index) => [
    segment(index === 0 ? "axis" : "grid", [area.left, y(tick)], [right, y(tick)]),
    label("tick", [area.left - 8, y(tick) + 4], format(tick), "end"),
  ]);
  const columns = xTicks.map((tick) => label("tick", [x(tick), bottom + 16], xFormat(tick), "middle"));
  const name = label("tick", [right, bottom + 31], xLabel, "end");
  return { x, y, axes: html`<g>${rows}${columns}${name}</g>` };
}

/**
 * A card with a title, a legend if there are several series, and two drawings: one for the area, one for narrow
 * pages.
 */
export function figure(options: {
  title: string;
  note?: string;
  legend?: readonly { name: string; colour: Colour; dashed?: boolean; faint?: boolean; dots?: boolean }[];
  area: Area;
  draw: (area: Area) => Html;
  wide?: boolean;
}): Html {
  const { title, note = "", legend = [], area, draw, wide = false } = options;
  const keys = legend.map(
    ({ name, colour, dashed, faint, dots }) =>
      html`<span class="key"><i class="${colour}${dashed ? " dashed" : ""}${faint ? " faint" : ""}${dots ? " dots" : ""}"></i>${name}</span>`,
  );
  const caption = html`<h3>${title}</h3><p>${note}</p><div class="legend">${keys}</div>`;
  return html`<figure class="card${wide ? " wide" : ""}"><figcaption>${caption}</figcaption>
${svg("broad", title, area, draw)}
${svg("narrow", title, { ...narrowArea, top: area.top }, draw)}</figure>
`;
}

function svg(style: string, title: string, area: Area, draw: (area: Area) => Html): Html {
  const box = `0 0 ${area.width} ${area.height}`;
  return html`<svg class="${style}" viewBox="${box}" role="img" aria-label="${title}">${draw(area)}</svg>`;
}
