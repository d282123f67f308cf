import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { policyCalls } from "./policy-calls.ts";

/** A longer ground truth is a program or a list of facts, which no observation contains as such. */
const mostCharacters = 100;

type Told = Pick<Trajectory, "task" | "turns" | "answer" | "success">;

/**
 * How many trajectories read the right answer in an observation before they answered, and how many of those gave it.
 * The answer counts as read if the text of a valid call's observation contains the ground truth, which the prompt does
 * not contain, as whole words.
 */
export function shownAnswers(
  trajectories: readonly Told[],
): Pick<StepRecord, "shownAnswerShare" | "givenAnswerShare"> {
  const shown = trajectories.filter(isShown);
  if (shown.length === 0) return {};
  const given = shown.filter(({ task, answer = "", success }) => success || contains(answer, truthOf(task)));
  return {
    shownAnswerShare: shown.length / trajectories.length,
    givenAnswerShare: given.length / shown.length,
  };
}

function isShown({ task, turns, answer }: Told): boolean {
  const truth = truthOf(task);
  if (answer === undefined || truth === "" || truth.length > mostCharacters) return false;
  if (contains(JSON.stringify(task.prompt), truth)) return false;
  const read = turns.slice(0, -1).flatMap(policyCalls);
  return read.some(({ valid, observation }) => valid && contains(observation, truth));
}

function truthOf(task: Told["task"]): string {
  return task.reward_model.ground_truth.trim();
}

/** How many code units on either side of a part decide whether it is whole. */
const near = 4;

/** Whether `text` contains `part` as whole words and numbers: 57 is not a part of 157, of 57.5 or of -57. */
function contains(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const end = at + part.length;
    const [before, after] = [text.slice(Math.max(0, at - near), at), text.slice(end, end + near)];
    const isWhole = !/[\p{L}\p{N}]$|\p{N}[.,]$|(?:^|[^\p{L}\p{N} ])-$/u.test(before);
    if (isWhole && !/^[\p{L}\p{N}]|^[.,]\p{N}/u.test(after)) return true;
  }
  return false;
}
