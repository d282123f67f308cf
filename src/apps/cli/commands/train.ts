import { counted } from "../../../base/text/format.ts";
import type { TrainingResult } from "../../../contracts/run.ts";
import type { RunEvent } from "../../../control/operations/events.ts";
import { watchTimes } from "../../../control/operations/measured-times.ts";
import { timesMemory } from "../../../control/operations/remembered-times.ts";
import { trainRun } from "../../../control/operations/train-run.ts";
import type { Diagnosis } from "../../../results/diagnosis/diagnose.ts";
import type { OpenRun } from "../../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../../run/folder/recorded-steps.ts";
import { runFolder } from "../../../run/folder/run-folder.ts";
import { nameForCommands } from "../../../run/folder/store-of.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { createView } from "../views/live-view.ts";
import { capabilityLine } from "./capabilities.ts";

/** Trains a run to its end or until it is interrupted. It shows the progress and prints a summary. */
export async function train(options: {
  runs: string;
  run: string;
  temporal: string | undefined;
  upgrade?: boolean;
  /** Changes to the plan: `path.to.key=value`. */
  set?: readonly string[];
  json: boolean;
  isResumed?: boolean;
}): Promise<"ended" | "interrupted"> {
  const { runs, run, json, isResumed = false, ...how } = options;
  const { root, report } = runFolder(runs, run);
  const named = await nameForCommands(runs, run);
  const started = Date.now();
  const view = createView({ json, timesOf: (plan) => memory.of(plan) });
  const note = (text: string) => view.tell({ type: "note", text });
  const memory = await timesMemory(note);
  const watch = watchTimes();
  const onHeld = async ({ plan, store }: OpenRun) => {
    note(capabilityLine(plan));
    const last = await lastRecordedStep(store);
    if (last?.step === plan.steps && (how.set ?? []).length === 0)
      note(
        `${run} has had its ${counted(plan.steps, "step")}; --set steps=${plan.steps + 10} makes it longer`,
      );
  };
  const diagnoses: Diagnosis[] = [];
  const onEvent = (event: RunEvent) => {
    watch.see(event);
    if (event.type === "diagnosis") diagnoses.push(event.diagnosis);
    view.tell(event);
  };
  try {
    const result = await interruptible(
      (signal) => trainRun({ runs, run }, { ...how, onHeld, onEvent, signal }),
      () => {
        note(`interrupted; nothing that was finished is lost: npx everturn resume ${named}`);
        view.close();
      },
    );
    const plan = watch.plan();
    if (plan !== undefined) await memory.keep(plan, watch.times(), "run");
    if (result === "interrupted") {
      if (json) process.stdout.write(`${JSON.stringify({ run, interrupted: true })}\n`);
      return "interrupted";
    }
    const seconds = (Date.now() - started) / 1000;
    view.end({ ...result, named, seconds, isResumed, folder: root, report });
    if (json) process.stdout.write(`${JSON.stringify(jsonLine(result, seconds, diagnoses))}\n`);
    return "ended";
  } finally {
    view.close();
  }
}

function jsonLine(result: TrainingResult, seconds: number, found: readonly Diagnosis[]) {
  const { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories } = result;
  const diagnoses = found.map(({ condition, step, evidence }) => ({ condition, step, evidence }));
  return { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories, seconds, diagnoses };
}
