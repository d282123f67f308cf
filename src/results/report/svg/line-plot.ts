import { defined } from "../../../base/records/defined.ts";
import { type Html, html, nothing } from "../html.ts";
import { type Area, type Colour, columnsOf, figure, frame, isNarrow, smallArea, wideArea } from "./frame.ts";
import { type Scale, stepTicks, ticks } from "./scale.ts";
import { box, disc, hint, segment } from "./shapes.ts";

/** A line of a plot: its values by step. */
export interface Series {
  name: string;
  colour: Colour;
  dashed?: boolean;
  /** Draws a pale line, for values that also have a smoothed line. */
  faint?: boolean;
  /** Draws dots without a line. */
  dots?: boolean;
  values: readonly (readonly [step: number, value: number])[];
}

/** The content of a plot over the steps. */
export interface LinePlot {
  title: string;
  note?: string;
  series: readonly Series[];
  /** Formats values at the axis and in hover texts. */
  format: (value: number) => string;
  /** Fixed ends of the y axis. */
  low?: number;
  high?: number;
  /** The first and last step of the x axis. The default first step is 1. */
  from?: number;
  steps: number;
  /** The title of the x axis, and the name of one of its positions. Default: step. */
  xLabel?: string;
  /** Whether it fills the width of the page. */
  wide?: boolean;
  /** A step to mark with a vertical line. */
  mark?: number;
}

/** A plot of values over the steps. It shows the values of the step under the pointer. */
export function linePlot(plot: LinePlot): Html {
  const {
    title,
    note,
    series,
    format,
    low,
    high,
    from = 1,
    steps,
    xLabel = "step",
    wide = false,
    mark,
  } = plot;
  const area = wide ? wideArea : smallArea;
  const values = series.flatMap((one) => one.values.map(([, value]) => value)).filter(Number.isFinite);
  const bottom = low ?? values.reduce((least, value) => Math.min(least, value), 0);
  const top = high ?? values.reduce((most, value) => Math.max(most, value), bottom);
  const yTicks = ticks(bottom, top, 4);
  const last = Math.max(from + 1, steps);
  const draw = (within: Area) => {
    const xTicks = stepTicks(from, last, columnsOf(within));
    const { x, y, axes } = frame(within, { xDomain: [from, last], xTicks, xLabel, yTicks, format });
    const lines = series.map((one) => path(one, x, y));
    const marked =
      mark === undefined
        ? nothing
        : segment("mark", [x(mark), within.top], [x(mark), within.height - within.bottom]);
    return html`${axes}${marked}${lines}${hoverStrips(within, { series, x, y, format, xLabel })}`;
  };
  const legend = series.length > 1 ? series : [];
  return figure(defined({ title, note, legend, area, draw, wide }));
}

/** The line of a series with a dot on its last value, or its dots. */
export function path({ values, colour, dashed, faint, dots }: Series, x: Scale, y: Scale): Html {
  const finite = values.filter(([, value]) => Number.isFinite(value));
  const last = finite.at(-1);
  if (last === undefined) return nothing;
  if (dots) return html`${finite.map(([step, value]) => disc(`dot ${colour}`, [x(step), y(value)], 5))}`;
  const points = finite.map(([step, value]) => `${x(step)},${y(value)}`).join(" ");
  const kind = `line ${colour}${dashed ? " dashed" : ""}${faint ? " faint" : ""}`;
  const line = html`<polyline class="${kind}" points="${points}"/>`;
  return faint ? line : html`${line}${disc(`dot ${colour}`, [x(last[0]), y(last[1])], 3.5)}`;
}

/** The least width of a strip, in pixels: a pointer hits no narrower one. */
const stripWidth = 4;

/**
 * Strips that show a cross-hair, dots and a step's values while the pointer is in them: one for each step, or for some
 * of them if there are many. Narrow plots have none.
 */
export function hoverStrips(
  area: Area,
  options: {
    series: readonly Series[];
    x: Scale;
    y: Scale;
    format: (value: number) => string;
    xLabel?: string;
  },
): Html {
  if (isNarrow(area)) return nothing;
  const { series, x, y, format, xLabel = "step" } = options;
  const byStep = series.map((one) => ({ one, values: new Map(one.values) }));
  const all = [...new Set(byStep.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b);
  const apart = Math.ceil((all.length * stripWidth) / (area.width - area.left - area.right));
  const steps = all.filter((_, index) => index % apart === 0 || index === all.length - 1);
  const middles = steps.map(x);
  const base = area.height - area.bottom;
  const strips = steps.map((step, index) => {
    const middle = middles[index] ?? 0;
    const from = index === 0 ? middle - 8 : (middle + (middles[index - 1] ?? 0)) / 2;
    const to = index === steps.length - 1 ? middle + 8 : (middle + (middles[index + 1] ?? 0)) / 2;
    const here = byStep.flatMap(({ one, values }) => {
      const value = values.get(step);
      return value === undefined || !Number.isFinite(value) ? [] : [{ ...one, value }];
    });
    const text = [`${xLabel} ${step}`, ...here.map((one) => `${one.name}: ${format(one.value)}`)].join("\n");
    const dots = here.map((one) => disc(`dot ${one.colour}`, [middle, y(one.value)], 4));
    const cross = segment("cross", [middle, area.top], [middle, base]);
    return hint(
      "hit",
      text,
      box("target", [from, area.top], [to, base]),
      html`<g class="hover">${cross}${dots}</g>`,
    );
  });
  return html`${strips}`;
}
