import { defined } from "../../../base/records/defined.ts";
import { counted } from "../../../base/text/format.ts";
import { type Html, html } from "../html.ts";
import { type Area, columnsOf, figure, frame, smallArea } from "./frame.ts";
import { ticks } from "./scale.ts";
import { box, hint } from "./shapes.ts";

/** How many values are in a range of a histogram: from `from` to below `to`; the last range includes `to`. */
export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** About this many ranges, so that small groups stay readable. */
const wanted = 20;

/** Counts values in equal ranges with round limits; none for no values. */
export function binned(values: readonly number[]): Bin[] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [];
  const low = finite.reduce((least, value) => Math.min(least, value));
  const high = finite.reduce((most, value) => Math.max(most, value));
  const limits = ticks(low, high, wanted);
  const bins = limits
    .slice(0, -1)
    .map((from, index): Bin => ({ from, to: limits[index + 1] ?? from, count: 0 }));
  const [first = 0, second = 1] = limits;
  for (const value of finite) {
    const index = Math.floor((value - first) / (second - first) + 1e-9);
    const bin = bins[Math.min(bins.length - 1, index)];
    if (bin !== undefined) bin.count++;
  }
  return bins;
}

/** A histogram of values: a bar for each range. Hovering shows the range and its number of values. */
export function histogram(options: {
  title: string;
  note?: string;
  values: readonly number[];
  /** Formats the values at the axis and in hover texts. */
  format: (value: number) => string;
  /** The name of one value, and its plural. */
  unit: readonly [one: string, many: string];
}): Html {
  const { title, note, values, format, unit } = options;
  const bins = binned(values);
  const [low, high] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1];
  const most = bins.reduce((largest, { count }) => Math.max(largest, count), 1);
  const yTicks = ticks(0, most, 4).filter(Number.isInteger);
  const draw = (within: Area) => {
    const { x, y, axes } = frame(within, {
      xDomain: [low, high],
      xTicks: ticks(low, high, columnsOf(within)).filter((tick) => tick >= low && tick <= high),
      xLabel: "",
      yTicks,
      format: String,
      xFormat: format,
    });
    const bars = bins.map(({ from, to, count }) =>
      hint(
        "hit",
        `${format(from)} to ${format(to)}: ${counted(count, ...unit)}`,
        box("bar blue", [x(from), y(count)], [x(to), y(0)]),
        box("target", [x(from), within.top], [x(to), y(0)]),
      ),
    );
    return html`${axes}${bars}`;
  };
  return figure(defined({ title, note, area: smallArea, draw }));
}
