import { counted, number, percent, shortPercent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { type Html, html } from "../html.ts";
import { metricMeaning, metricTitle } from "../metric-text.ts";
import type { RunData } from "../read-run.ts";
import { barPlot } from "../svg/bar-plot.ts";
import type { Colour } from "../svg/frame.ts";
import { linePlot, type Series } from "../svg/line-plot.ts";
import { rewardFact, rewardPlot } from "./reward.ts";

type Read = (record: StepRecord) => number | undefined;

/** Plots of the metrics over the steps, without those that the trainer does not measure. */
export function plots(data: RunData): Html {
  const { steps: records, plan } = data;
  const { steps } = plan;
  if (records.length === 0) {
    return html`<h2>Training</h2><p class="empty">No step has finished yet.</p>`;
  }
  const over = (read: Read) =>
    records.flatMap((record) => {
      const value = read(record);
      return value === undefined ? [] : [[record.step, value] as const];
    });
  const line = (name: string, colour: Colour, read: Read): Series => ({ name, colour, values: over(read) });
  const lines = (title: string, note: string, all: readonly Series[], format = number) => {
    const series = all.filter(({ values }) => values.length > 0);
    return series.length === 0 ? [] : [linePlot({ title, note, steps, format, series })];
  };
  const single = (title: string, note: string, read: Read, format = number) =>
    lines(title, note, [line(title, "blue", read)], format);
  const both = (title: string, note: string, read: Read, heldOut: Read, format = number) =>
    lines(title, note, [line("trained on", "blue", read), line("held out", "orange", heldOut)], format);
  const counts = (title: string, note: string, read: Read) =>
    records.some((record) => (read(record) ?? 0) > 0)
      ? [barPlot({ title, note, steps, format: number, whole: true, parts: [line(title, "orange", read)] })]
      : [];

  const toolCalls = line("trajectories that call a tool", "blue", (record) => record.toolCallRate);
  const validCalls = {
    ...line("calls that are valid", "orange", (record) => record.validCallRate),
    dashed: true,
  };
  const unreadableCalls = {
    ...line("calls that cannot be read", "violet", (record) => record.unreadableCallRate),
    dashed: true,
  };
  const share = { low: 0, high: 1, steps, format: shortPercent };
  const phases = [
    line("rollout", "blue", (record) => record.seconds.rollout),
    line("train", "orange", (record) => record.seconds.train),
    line("publish", "aqua", (record) => record.seconds.publish),
    line("other", "violet", otherSeconds),
  ];
  const cards = [
    ...both(
      "Loss",
      "Mean of each step's updates.",
      ({ loss }) => loss,
      (record) => record.heldOutLoss,
    ),
    ...both(
      "Preferred answers ahead",
      "Share of the pairs.",
      ({ accuracy }) => accuracy,
      (record) => record.heldOutAccuracy,
      shortPercent,
    ),
    ...both(
      "Margin",
      "By what the preferred answers are ahead: beta times the difference of the log-ratios, nats.",
      ({ margin }) => margin,
      (record) => record.heldOutMargin,
    ),
    ...(records.every(({ rewardMean }) => rewardMean === undefined) ? [] : [rewardPlot(data)]),
    ...(toolCalls.values.length === 0
      ? []
      : [
          linePlot({
            title: "Tool use",
            note: "Of each step's batch.",
            ...share,
            series: [toolCalls, validCalls, unreadableCalls].filter(({ values }) => values.length > 0),
          }),
        ]),
    ...lines("Reward spread", "Standard deviation within groups (their mean) and of the groups' means.", [
      line("within groups", "blue", (record) => record.rewardSpreadWithin),
      line("between groups", "orange", (record) => record.rewardSpreadBetween),
    ]),
    ...lines(
      "Uniform groups",
      "Groups whose trajectories all earned the same: they contribute nothing to a group baseline.",
      [
        line("uniform", "blue", (record) => record.uniformGroupShare),
        { ...line("all 0", "orange", (record) => record.zeroGroupShare), dashed: true },
        { ...line("all 1", "aqua", (record) => record.oneGroupShare), dashed: true },
      ],
      shortPercent,
    ),
    ...single(
      "Cut actions",
      "Share of the actions that a limit of tokens cut.",
      (record) => record.cutActionShare,
      shortPercent,
    ),
    ...single(
      "KL",
      "To the policy that reinforcement learning started from, nats a token.",
      (record) => record.kl,
    ),
    ...single("Entropy", "Of the policy, nats a token.", (record) => record.entropy),
    ...single(
      "Clip fraction",
      "Action tokens whose ratio was clipped.",
      (record) => record.clipFraction,
      shortPercent,
    ),
    ...single("Value loss", "Of the value head.", (record) => record.valueLoss),
    ...single("Gradient norm", "Before clipping.", (record) => record.gradientNorm),
    barPlot({
      title: "Time by phase",
      note: "Wall-clock time of each step.",
      steps,
      format: seconds,
      total: "all",
      parts: phases,
    }),
    ...single("Action tokens", "Mean of a trajectory.", (record) => record.actionLength),
    ...single("Turns", "Mean of a trajectory.", (record) => record.turns),
    ...metricNames(records).flatMap((name) =>
      single(
        metricTitle(name),
        `${metricMeaning(name)} Mean of a trajectory.`,
        ({ metrics }) => metrics?.[name],
      ),
    ),
    ...counts(
      "Left out",
      "Trajectories whose infrastructure failed; they train no step.",
      (record) => record.leftOut,
    ),
    ...counts("Staleness", "Versions that the oldest trajectory was behind.", (record) => record.staleness),
  ];
  return html`<h2>Training</h2><p class="lead">${facts(records)}</p><div class="grid">${cards}</div>
`;
}

/** The metrics to draw. The number of cut actions is left out if their share has a plot. */
function metricNames(records: readonly StepRecord[]): string[] {
  const hasShare = records.some(({ cutActionShare }) => cutActionShare !== undefined);
  const names = new Set(records.flatMap(({ metrics }) => Object.keys(metrics ?? {})));
  return [...names].filter((name) => !(hasShare && name === "cutActions"));
}

function facts(records: readonly StepRecord[]): string {
  const trained = records.reduce((total, record) => total + record.trajectories, 0);
  const leftOut = records.reduce((total, record) => total + record.leftOut, 0);
  const staleness = records.reduce((most, record) => Math.max(most, record.staleness), 0);
  const reward = rewardFact(records);
  const gaps = records.flatMap(({ logprobGap }) => logprobGap ?? []);
  const examples = records.reduce((total, record) => total + (record.examples ?? 0), 0);
  if (examples > 0)
    return `${counted(examples, "example")} trained on, ${number(records.at(-1)?.epoch ?? 0)} times each`;
  return [
    ...(reward === undefined ? [] : [reward]),
    `${counted(trained, "trajectory", "trajectories")} trained on, ${leftOut} left out (${percent(leftOut / (trained + leftOut || 1))})`,
    staleness === 0
      ? "staleness 0: every batch from the newest version"
      : `staleness at most ${counted(staleness, "version")}`,
    `recorded and recomputed log-probabilities differ by at most ${number(Math.max(0, ...gaps))}`,
  ].join(" · ");
}

function otherSeconds({ seconds: { total, rollout, train, publish } }: StepRecord): number {
  return Math.max(0, total - rollout - train - publish);
}

function seconds(value: number): string {
  return `${number(value)} s`;
}
