import { defined } from "../../../base/records/defined.ts";
import { type Html, html } from "../html.ts";
import { type Area, columnsOf, figure, frame, smallArea } from "./frame.ts";
import type { Series } from "./line-plot.ts";
import { stepTicks, ticks } from "./scale.ts";
import { box, hint } from "./shapes.ts";

/** A part of each step's bar. */
export type Part = Pick<Series, "name" | "colour" | "values">;

/** Stacked bars, one per step. Hovering shows a step's parts and their sum. */
export function barPlot(options: {
  title: string;
  note?: string;
  parts: readonly Part[];
  format: (value: number) => string;
  /** Its name in the hover text if there are several parts. */
  total?: string;
  steps: number;
  /** Labels whole numbers only. */
  whole?: boolean;
}): Html {
  const { title, note, parts, format, total, steps, whole = false } = options;
  const byStep = parts.map((part) => new Map(part.values));
  const shown = [...new Set(byStep.flatMap((values) => [...values.keys()]))];
  const bars = shown.map((step) => {
    const values = byStep.map((ofPart) => ofPart.get(step) ?? 0);
    return { step, values, sum: values.reduce((sum, value) => sum + value, 0) };
  });
  const last = Math.max(1, steps);
  const high = Math.max(...bars.map((bar) => bar.sum), whole ? 1 : 0);
  const yTicks = ticks(0, high, 4).filter((tick) => !whole || Number.isInteger(tick));
  const draw = (within: Area) => {
    const { left, right, top, bottom, width, height } = within;
    const slot = (width - left - right) / last;
    const thick = Math.max(0.5, Math.min(24, slot - (slot > 4 ? 2 : 0.5)));
    const domain: [number, number] = [0.5, last + 0.5];
    const { x, y, axes } = frame(within, {
      xDomain: domain,
      xTicks: stepTicks(1, last, columnsOf(within)),
      xLabel: "step",
      yTicks,
      format,
    });
    const drawn = bars.map(({ step, values, sum }) => {
      let base = 0;
      const pieces = values.map((value, index) => {
        const lower = y(base);
        base += value;
        const leftEdge = x(step) - thick / 2;
        return box(`bar ${parts[index]?.colour ?? ""}`, [leftEdge, y(base)], [leftEdge + thick, lower]);
      });
      const lines = parts.map((part, index) => `${part.name}: ${format(values[index] ?? 0)}`);
      const text = [
        `step ${step}`,
        ...lines,
        ...(total === undefined ? [] : [`${total}: ${format(sum)}`]),
      ].join("\n");
      const target = box("target", [x(step) - slot / 2, top], [x(step) + slot / 2, height - bottom]);
      return hint("hit", text, ...pieces, target);
    });
    return html`${axes}${drawn}`;
  };
  const legend = parts.length > 1 ? parts : [];
  return figure(
    defined({
      title,
      note,
      legend,
      area: smallArea,
      draw,
    }),
  );
}
