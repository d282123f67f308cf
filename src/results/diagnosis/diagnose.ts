import type { StopCondition } from "../../contracts/generated/pipeline.ts";
import { type Condition, type Evidence, evidenceWindow } from "./condition.ts";
import { conditions } from "./conditions.ts";

/** A condition that holds in a run. */
export interface Diagnosis {
  condition: StopCondition;
  title: string;
  /** The step after which it was found; 0 before the first step. */
  step: number;
  /** The numbers that show it. */
  evidence: string;
  consequence: string;
  remedies: readonly string[];
}

/** The conditions that hold at the last of a run's steps. Before the first step, those that evaluations show. */
export function diagnose(evidence: Evidence): Diagnosis[] {
  const { step } = evidence.steps.at(-1) ?? { step: 0 };
  return conditionList().flatMap(([condition, { find, isEarly = false }]) => {
    const found = step > 0 || isEarly ? find(evidence) : undefined;
    return found === undefined ? [] : [diagnosisOf(condition, step, found)];
  });
}

/** The diagnosis that a condition holds at a step. */
export function diagnosisOf(condition: StopCondition, step: number, evidence: string): Diagnosis {
  const { title, consequence, remedies } = conditions[condition];
  return { condition, title, step, evidence, consequence, remedies };
}

/** Each condition that held after any of a run's steps, once, where it first did. */
export function diagnoseRun({ plan, steps, evaluations }: Evidence): Diagnosis[] {
  const first = new Map<StopCondition, Diagnosis>();
  for (const [index, step] of [0, ...steps.map((record) => record.step)].entries()) {
    const evidence = {
      plan,
      steps: evidenceWindow(steps, index),
      evaluations: evaluations.filter((record) => record.step <= step),
    };
    for (const found of diagnose(evidence)) {
      if (!first.has(found.condition)) first.set(found.condition, found);
    }
  }
  return [...first.values()];
}

/** The conditions with their names, causes before their effects. */
export function conditionList(): [StopCondition, Condition][] {
  const isName = (name: string): name is StopCondition => Object.hasOwn(conditions, name);
  return Object.keys(conditions)
    .filter(isName)
    .map((name) => [name, conditions[name]]);
}
