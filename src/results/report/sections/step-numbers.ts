import schema from "../../../../schemas/step-record.schema.json" with { type: "json" };
import { duration, grouped, number, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { type Html, html } from "../html.ts";
import { metricMeaning, metricTitle } from "../metric-text.ts";

/** The headings under which a step's numbers are listed, in order. */
const headings = ["Rewards", "Actions", "Update", "Examples", "Batch"] as const;

/** The heading of each number. The page shows step, time, reasons and metrics in other ways. */
const placed: Record<keyof StepRecord, (typeof headings)[number] | undefined> = {
  step: undefined,
  policyVersion: "Batch",
  staleness: "Batch",
  stalenessMean: "Batch",
  trajectories: "Batch",
  trajectoriesSoFar: "Batch",
  leftOut: "Batch",
  leftOutShare: "Batch",
  leftOutReasons: undefined,
  hostPauses: undefined,
  metrics: undefined,
  groupsLost: "Batch",
  groupsLeftOut: "Batch",
  rewardMean: "Rewards",
  successRate: "Rewards",
  toolCallRate: "Actions",
  validCallRate: "Actions",
  unreadableCallRate: "Actions",
  cutActionShare: "Actions",
  commonObservation: undefined,
  shownAnswerShare: "Actions",
  givenAnswerShare: "Actions",
  toolDifferences: undefined,
  uniformGroupShare: "Rewards",
  zeroGroupShare: "Rewards",
  oneGroupShare: "Rewards",
  rewardSpreadWithin: "Rewards",
  limitedShare: "Actions",
  solvedRewardLead: "Rewards",
  rewardSpreadBetween: "Rewards",
  kl: "Update",
  approximateKl: "Update",
  entropy: "Update",
  clipFraction: "Update",
  policyLoss: "Update",
  valueLoss: "Update",
  valueGradientNorm: "Update",
  updates: "Update",
  rewardScale: "Rewards",
  masked: "Batch",
  examples: "Examples",
  epoch: "Examples",
  loss: "Examples",
  heldOutLoss: "Examples",
  accuracy: "Examples",
  heldOutAccuracy: "Examples",
  margin: "Examples",
  heldOutMargin: "Examples",
  skippedUpdates: "Update",
  lossScale: "Update",
  gradientNorm: "Update",
  learningRate: "Update",
  valueLearningRate: "Update",
  logprobGap: "Update",
  logprobGapMean: "Update",
  samplerKl: "Update",
  tokens: undefined,
  actionLength: "Actions",
  turns: "Actions",
  seconds: undefined,
};

/** What the schema says about a number. */
interface Described {
  title: string;
  description: string;
  type: string;
  maximum?: number;
}

const described = Object.entries<Described>(schema.properties);

/** A number's title, value, value in the previous step, and meaning. */
interface Shown {
  title: string;
  value: string;
  before: string | undefined;
  meaning: string;
}

/** All numbers of a step with their units and meanings, next to those of the step before. */
export function stepNumbers(record: StepRecord, before: StepRecord | undefined): Html {
  const values = numbersIn(record);
  const earlier = before === undefined ? new Map<string, number>() : numbersIn(before);
  const under = (heading: string): Shown[] =>
    described.flatMap(([name, about]) => {
      const value = values.get(name);
      if (value === undefined || headingOf(name) !== heading) return [];
      const previous = earlier.get(name);
      return [
        {
          title: about.title,
          value: written(value, about),
          before: previous === undefined ? undefined : written(previous, about),
          meaning: about.description
            .replace(/ Absent [^.]*(?:\.\d[^.]*)?\.$/, "") // it is present
            .replace(/; absent [^.]*\.$/, "."),
        },
      ];
    });
  const sections: [string, Shown[]][] = [
    ...headings.map((heading): [string, Shown[]] => [heading, under(heading)]),
    ["Tokens", nested(schema.properties.tokens.properties, record.tokens, before?.tokens, grouped)],
    ["Measured by rewards and tools", named(meanOf, number, record.metrics, before?.metrics)],
    ["Pauses of tool hosts", named(pauseOf, duration, record.hostPauses, before?.hostPauses)],
    ["Time", nested(schema.properties.seconds.properties, record.seconds, before?.seconds, duration)],
  ];
  return html`${sections.flatMap(([heading, shown]) => section(heading, shown))}`;
}

function headingOf(name: string): string | undefined {
  return Object.entries(placed).find(([placedName]) => placedName === name)?.[1];
}

function numbersIn(record: StepRecord): Map<string, number> {
  return new Map(
    Object.entries(record).flatMap(([name, value]) => (typeof value === "number" ? [[name, value]] : [])),
  );
}

/** A share as a percentage, a count whole, other numbers with the unit that their description names. */
function written(value: number, { description, type, maximum }: Described): string {
  if (maximum === 1) return percent(value);
  if (type === "integer") return grouped(value);
  return /\bin nats\b/.test(description) ? `${number(value)} nats` : number(value);
}

function nested<Name extends string>(
  about: Record<Name, { title: string; description: string }>,
  values: Record<Name, number>,
  before: Record<Name, number> | undefined,
  format: (value: number) => string,
): Shown[] {
  const isName = (name: string): name is Name => Object.hasOwn(about, name);
  return Object.keys(about)
    .filter(isName)
    .map((name) => ({
      title: about[name].title,
      value: format(values[name]),
      before: before === undefined ? undefined : format(before[name]),
      meaning: about[name].description,
    }));
}

const meanOf = (name: string) => `${metricMeaning(name)} Mean over the trajectories that have it.`;
const pauseOf = () => "Time in which its calls waited because it kept failing.";

/** Numbers whose names the run's plugins choose. */
function named(
  meaning: (name: string) => string,
  format: (value: number) => string,
  values: Record<string, number> = {},
  before: Record<string, number> = {},
): Shown[] {
  return Object.entries(values).map(([name, value]) => {
    const previous = before[name];
    return {
      title: metricTitle(name),
      value: format(value),
      before: previous === undefined ? undefined : format(previous),
      meaning: meaning(name),
    };
  });
}

function section(heading: string, shown: readonly Shown[]): Html[] {
  if (shown.length === 0) return [];
  const tiles = shown.map(
    ({ title, value, before, meaning }) =>
      html`<div class="number"><dt>${title}</dt><dd class="amount">${value}${before === undefined ? [] : [html`<span>${`before: ${before}`}</span>`]}</dd><dd class="meaning">${meaning}</dd></div>`,
  );
  return [html`<h2>${heading}</h2><dl class="numbers">${tiles}</dl>`];
}
