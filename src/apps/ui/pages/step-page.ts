import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { number, shortPercent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { stepStage } from "../../../contracts/stages.ts";
import { diagnose } from "../../../results/diagnosis/diagnose.ts";
import { readEvidence } from "../../../results/diagnosis/read-evidence.ts";
import { type Html, html } from "../../../results/report/html.ts";
import { diagnosisCards } from "../../../results/report/sections/diagnoses.ts";
import { leftOutTable } from "../../../results/report/sections/left-out.ts";
import { stepNumbers } from "../../../results/report/sections/step-numbers.ts";
import { histogram } from "../../../results/report/svg/histogram.ts";
import { linePlot } from "../../../results/report/svg/line-plot.ts";
import { recordedSteps } from "../../../run/folder/recorded-steps.ts";
import { recordedStepKey } from "../../../run/store/keys.ts";
import { trajectoryReader } from "../../../run/trajectory/reader.ts";
import { rewardsOf, withResults } from "../ended-trajectories.ts";
import { document } from "../layout.ts";
import { runPath, withQuery } from "../paths.ts";
import { link } from "../table.ts";
import type { ShownRun } from "../ui-context.ts";

/** The curves in which a step's page marks the step. */
const curves: [title: string, read: (record: StepRecord) => number | undefined, format: typeof number][] = [
  ["Mean reward", ({ rewardMean }) => rewardMean, number],
  ["Success rate", ({ successRate }) => successRate, shortPercent],
  ["Loss", ({ loss }) => loss, number],
  ["Uniform groups", ({ uniformGroupShare }) => uniformGroupShare, shortPercent],
  ["Entropy, nats", ({ entropy }) => entropy, number],
  ["Gradient norm", ({ gradientNorm }) => gradientNorm, number],
];

/** A step: its diagnoses, its rewards, its place in the run's curves, and all its numbers. Throws STEP_NOT_FOUND. */
export async function stepPage(run: ShownRun, named: string): Promise<string> {
  const step = /^[1-9]\d{0,8}$/.test(named) ? Number(named) : 0;
  const record = step === 0 ? undefined : await run.store.read(recordedStepKey(step));
  if (record === undefined) throw new EverturnError("STEP_NOT_FOUND", { run: run.id, step: named });
  const steps = await recordedSteps(run.store);
  const has = (wanted: number) => steps.some((one) => one.step === wanted);
  const other = (to: number, text: string) => link(runPath(run.id, "steps", String(to)), text);
  const links = [
    ...(has(step - 1) ? [other(step - 1, "← previous step")] : []),
    ...(has(step + 1) ? [other(step + 1, "next step →")] : []),
    ...(record.rewardMean === undefined
      ? []
      : [
          link(
            withQuery(runPath(run.id, "trajectories"), { stage: stepStage(step), sort: "reward desc" }),
            "its trajectories",
          ),
        ]),
  ];
  const evidence = await readEvidence(run, record);
  const content = html`<h1>Step ${step}</h1><p class="facts">${`of ${run.plan.steps}: version ${record.policyVersion} of the policy`}</p><p class="pages">${links}</p>
${diagnosisCards(diagnose(evidence))}<h2>Curves</h2><div class="grid">${await rewards(run, step)}${placeInRun(steps, record, run.plan.steps)}</div>
${stepNumbers(
  record,
  steps.find((one) => one.step === step - 1),
)}${leftOutTable([record])}`;
  return document({
    title: `Step ${step} of ${run.id}`,
    above: [[runPath(run.id), run.id]],
    content,
    unreadable: run.unreadable,
  });
}

async function rewards(run: ShownRun, step: number): Promise<Html[]> {
  const reader = trajectoryReader(run);
  const values = rewardsOf(await withResults(reader, await reader.near(stepStage(step))));
  if (values.length === 0) return [];
  const unit = ["trajectory", "trajectories"] as const;
  return [
    histogram({
      title: "Rewards",
      note: "Trajectories of the step, by reward.",
      values,
      format: number,
      unit,
    }),
  ];
}

function placeInRun(steps: readonly StepRecord[], { step }: StepRecord, last: number): Html[] {
  return curves.flatMap(([title, read, format]) => {
    const values = steps.flatMap((record) => {
      const value = read(record);
      return value === undefined ? [] : [[record.step, value] as const];
    });
    if (values.length === 0) return [];
    const note = "The dashed line marks this step.";
    return [
      linePlot({
        title,
        note,
        series: [{ name: title, colour: "blue", values }],
        format,
        steps: last,
        mark: step,
      }),
    ];
  });
}
