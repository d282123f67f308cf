import { shareInterval } from "../../../base/statistics/share-interval.ts";
import { batchText } from "../../../base/text/batch-text.ts";
import { counted, percent } from "../../../base/text/format.ts";
import { trainingName } from "../../../base/text/training-name.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { firstVersion } from "../../../run/versions/first-version.ts";
import { type Html, html } from "../html.ts";
import type { RunData } from "../read-run.ts";
import { type Area, columnsOf, figure, frame, isNarrow } from "../svg/frame.ts";
import { hoverStrips, path, type Series } from "../svg/line-plot.ts";
import { type Scale, stepTicks } from "../svg/scale.ts";
import { box, disc, hint, label, type Point, segment } from "../svg/shapes.ts";

const area: Area = { width: 1160, height: 320, left: 58, right: 40, top: 34, bottom: 36 };
const labelDistance = 60;

/**
 * Held-out accuracy over the run: the policy as built at the left end, then the warm start, then the steps from the
 * marked line on, with the success rate of the sampled batches in the background.
 */
export function accuracyPlot({ plan, evaluations, steps }: RunData): Html {
  const start = firstVersion(plan);
  const last = Math.max(1, plan.steps);
  const before = start === 0 ? 0 : last * 0.22;
  const position = ({ policyVersion, step }: EvaluationRecord) => (policyVersion < start ? -before : step);
  const points = evaluations.map((record) => ({ record, at: position(record) }));
  const along = (from: number, to: number) =>
    points.filter(({ at }) => at >= from && at <= to).map(({ record, at }) => [at, record.accuracy] as const);
  const warm: Series = { name: "warm start", colour: "violet", dashed: true, values: along(-before, 0) };
  const learned: Series = { name: "held-out accuracy (greedy)", colour: "blue", values: along(0, last) };
  const sampled: Series = {
    name: "success rate of the batches (sampled)",
    colour: "aqua",
    values: steps.flatMap(({ step, successRate }) =>
      successRate === undefined ? [] : [[step, successRate] as const],
    ),
  };
  const draw = (within: Area) => {
    const { x, y, axes } = frame(within, {
      xDomain: [-before, last],
      xTicks: [...new Set([0, ...stepTicks(0, last, columnsOf(within))])],
      xLabel: `step of ${trainingName(plan)}`,
      yTicks: [0, 0.25, 0.5, 0.75, 1],
      format: (value) => percent(value, 0),
    });
    const strips = hoverStrips(within, {
      series: [learned, sampled].map(fromStepOne),
      x,
      y,
      format: percent,
    });
    const lines = [sampled, ...(start === 0 ? [] : [warm]), learned].map((series) => path(series, x, y));
    const marks = points.map(({ record, at }) => point(record, x(at), y));
    return html`${axes}${zones(plan, x, within)}${lines}${strips}${marks}${labels(points, x, y, within)}`;
  };
  const legend = [learned, ...(sampled.values.length === 0 ? [] : [sampled]), ...(start === 0 ? [] : [warm])];
  const note = "Whiskers are 95 % intervals.";
  return figure({ title: "Accuracy over the run", note, legend, area, draw, wide: true });
}

function fromStepOne(series: Series): Series {
  return { ...series, values: series.values.filter(([step]) => step >= 1) };
}

function zones(plan: RunData["plan"], x: Scale, within: Area): Html {
  const { steps, warmStart } = plan;
  const start = x(0);
  const { left, top } = within;
  const base = within.height - within.bottom;
  const above = top - 14;
  const batches = `${counted(steps, "step")} of ${batchText(plan)}`;
  const learning = [trainingName(plan), ...(isNarrow(within) ? [] : [batches])].join(": ");
  const warmed = `warm start: ${counted(warmStart?.steps ?? 0, "step")}`;
  const warm =
    warmStart === undefined
      ? []
      : [
          box("zone", [left, top], [start, base]),
          ...(isNarrow(within) ? [] : [label("zone-label", [(left + start) / 2, above], warmed, "middle")]),
        ];
  const line = segment("mark", [start, top - 24], [start, base]);
  return html`${warm}${line}${label("zone-label strong", [start + 8, above], learning, "start")}`;
}

function point(record: EvaluationRecord, x: number, y: Scale): Html {
  const [low, high] = shareInterval(record.accuracy, record.tasks);
  const when = record.step === 0 ? `policy version ${record.policyVersion}` : `after step ${record.step}`;
  const text = [
    `${when}: ${percent(record.accuracy)} of ${counted(record.tasks, "task")}`,
    `95 % interval ${percent(low)} to ${percent(high)}`,
    `tool calls in ${percent(record.toolCallRate)}`,
  ].join("\n");
  const place: Point = [x, y(record.accuracy)];
  const whisker = segment("whisker", [x, y(low)], [x, y(high)]);
  return hint("evaluation", text, whisker, disc("dot blue", place, 5), disc("target", place, 14));
}

/** Labels next to the points: the first, then those that are far enough apart, and always the last. */
function labels(
  points: readonly { record: EvaluationRecord; at: number }[],
  x: Scale,
  y: Scale,
  within: Area,
): Html {
  const end = points.at(-1);
  let previous = Number.NEGATIVE_INFINITY;
  const chosen = points.filter((one) => {
    const isClear =
      x(one.at) - previous >= labelDistance && (end === undefined || x(end.at) - x(one.at) >= labelDistance);
    if (!isClear && one !== end) return false;
    previous = x(one.at);
    return true;
  });
  const texts = chosen.map(({ record, at }) => {
    const [low, high] = shareInterval(record.accuracy, record.tasks);
    const above = y(high) - 8;
    const place = above > within.top + 12 ? above : y(low) + 22;
    const text = percent(record.accuracy);
    return x(at) < within.left + 20 // the labels of the axis are to its left
      ? label("value-label", [x(at) + 8, place], text, "start")
      : label("value-label", [x(at), place], text, "middle");
  });
  return html`${texts}`;
}
