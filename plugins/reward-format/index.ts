import type { RewardPlugin } from "everturn/plugin";
import { boxedForm } from "./boxed.ts";
import { patternForm, patternProblem } from "./pattern.ts";
import { tagsForm } from "./tags.ts";

/** Checks whether a text has a form. */
type Form = (text: string) => boolean;

/** Reward 1 if the text has the whole requested form, else 0. Each part of the form is a metric. */
const format: RewardPlugin = {
  score({ turns, config }) {
    const actions = turns.map(({ action }) => action);
    const forms = formsOf(config);
    const texts =
      config.of === "each" ? actions : [config.of === "whole" ? actions.join("\n") : (actions.at(-1) ?? "")];
    const found = texts.map((text) =>
      forms.map(([name, form]): [string, number] => [name, form(text) ? 1 : 0]),
    );
    const right = found.map((marks) => (marks.every(([, mark]) => mark === 1) ? 1 : 0));
    const reward = mean(right);
    const metrics = Object.fromEntries(
      forms.map(([name], index) => [name, mean(found.map((marks) => marks[index]?.[1] ?? 0))]),
    );
    const earned = config.of === "each" ? { turns: right.map((one) => one / right.length) } : {};
    return { reward, success: reward === 1, metrics, ...earned };
  },
  check({ pattern }) {
    const reason = typeof pattern === "string" ? patternProblem(pattern) : undefined;
    const help = "RE2 neither refers back (\\1) nor looks around ((?=…)): say it without.";
    return reason === undefined ? [] : [{ key: "pattern", reason, help }];
  },
};

export default format;

function formsOf({
  tags,
  only,
  boxed,
  pattern,
}: Parameters<RewardPlugin["score"]>[0]["config"]): [string, Form][] {
  return [
    ...(Array.isArray(tags)
      ? [["tags", tagsForm(tags.map(String), only === true)] satisfies [string, Form]]
      : []),
    ...(boxed === true ? [["boxed", boxedForm] satisfies [string, Form]] : []),
    ...(typeof pattern === "string" ? [["pattern", patternForm(pattern)] satisfies [string, Form]] : []),
  ];
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}
