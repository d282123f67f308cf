import { counted, number } from "../../../base/text/format.ts";
import { type Html, html, nothing } from "../../../results/report/html.ts";
import { type Area, columnsOf, figure, frame, wideArea } from "../../../results/report/svg/frame.ts";
import { round, stepTicks, ticks } from "../../../results/report/svg/scale.ts";
import { hint } from "../../../results/report/svg/shapes.ts";

/** The rewards of steps' trajectories, by step. */
type RewardsByStep = ReadonlyMap<number, readonly number[]>;

/** The most columns, and about how many ranges of rewards a column has. */
const mostColumns = 60;
const ranges = 10;

/**
 * A histogram of rewards for each step, or for several steps together if there are many. The stronger the color
 * of a cell, the larger the share of its steps' trajectories.
 */
export function rewardHistograms(rewards: RewardsByStep, steps: number): Html {
  const all = [...rewards.values()].flat();
  if (all.length === 0) return nothing;
  const low = all.reduce((least, value) => Math.min(least, value));
  const high = all.reduce((most, value) => Math.max(most, value));
  const limits = ticks(low, high === low ? low + 1 : high, ranges);
  const last = Math.max(1, steps);
  const width = Math.ceil(last / mostColumns);
  const cells = columns(rewards, last, width, limits);
  const draw = (within: Area) => {
    const { x, y, axes } = frame(within, {
      xDomain: [0.5, last + 0.5],
      xTicks: stepTicks(1, last, columnsOf(within)),
      xLabel: "step",
      yTicks: limits,
      format: number,
    });
    const drawn = cells.map(({ from, range, count, of }) => {
      const [bottom = 0, top = 0] = [limits[range], limits[range + 1]];
      const to = Math.min(last, from + width - 1);
      const [left, right] = [x(from - 0.5), x(to + 0.5)];
      const rect = html`<rect class="cell" x="${left}" y="${y(top)}" width="${round(right - left)}" height="${round(y(bottom) - y(top))}" fill-opacity="${Math.max(0.06, Math.round((100 * count) / of) / 100)}"/>`;
      const named = from === to ? `step ${from}` : `steps ${from} to ${to}`;
      return hint(
        "hit",
        `${named}\nreward ${number(bottom)} to ${number(top)}: ${count} of ${counted(of, "trajectory", "trajectories")}`,
        rect,
      );
    });
    return html`${axes}${drawn}`;
  };
  return figure({
    title: "Rewards by step",
    note: "The stronger the color of a cell, the more of the step's trajectories earned a reward in its range.",
    area: wideArea,
    draw,
    wide: true,
  });
}

/** A cell of the plot: trajectories of the steps from `from` on with rewards in a range, `of` these steps' in all. */
interface Cell {
  from: number;
  range: number;
  count: number;
  of: number;
}

function columns(rewards: RewardsByStep, last: number, width: number, limits: readonly number[]): Cell[] {
  const [first = 0, second = 1] = limits;
  const cells: Cell[] = [];
  for (let from = 1; from <= last; from += width) {
    const counts = new Map<number, number>();
    let of = 0;
    for (let step = from; step < from + width; step++) {
      for (const reward of rewards.get(step) ?? []) {
        const range = Math.min(limits.length - 2, Math.floor((reward - first) / (second - first) + 1e-9));
        counts.set(range, (counts.get(range) ?? 0) + 1);
        of++;
      }
    }
    for (const [range, count] of counts) cells.push({ from, range, count, of });
  }
  return cells;
}
