import type { CheckedResponse } from "../../plugin/host/checked-response.ts";
import type { ToolCase } from "./cases.ts";
import { Broken } from "./promise.ts";
import { answerText, callText, type RunningTool, shortened, type ToolSubject } from "./tool-subject.ts";

/** Calls each case alone, on an instance of its own if the tool has state. */
export async function eachAlone(
  subject: ToolSubject,
  called: RunningTool,
  cases = subject.cases,
): Promise<string[]> {
  const answers: string[] = [];
  for (const [index, one] of cases.entries()) answers.push(await alone(called, one, `check/alone-${index}`));
  return answers;
}

/** The answer to a call on an instance of its own, as text. */
export async function alone(called: RunningTool, one: ToolCase, instance: string): Promise<string> {
  return answerText(await answered(called, one, instance));
}

/** The answer to a call on an instance of its own. */
export async function answered(
  { create, call, tool }: RunningTool,
  one: ToolCase,
  instance: string,
): Promise<CheckedResponse> {
  const state = await create(instance);
  const answer = await call(one, { instance, state });
  if (tool.isStateful) await tool.plugin.release?.(state);
  return answer;
}

/** The cases whose answer is the same each time. */
export function steady({ cases }: ToolSubject): ToolCase[] {
  return cases.filter(({ varies }) => varies !== true);
}

/** Throws if a call was answered differently than before. */
export function differ(one: ToolCase, before: string, after: string, when: string, advice: string): void {
  if (before === after) return;
  throw new Broken(
    `${callText(one)}, ${when}, returned ${shortened(after)} instead of ${shortened(before)}`,
    advice,
  );
}
