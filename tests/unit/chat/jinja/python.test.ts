import { expect, test } from "vitest";
import { UnsupportedJinjaError } from "../../../../src/chat/jinja/errors.ts";
import { compileTemplate } from "../../../../src/chat/jinja/template.ts";
import fixture from "./fixtures/cases.json" with { type: "json" };

const cases: (string | null)[][] = fixture.cases;

/** What a template gives here: its text, null where it fails, or "refused" where this can't do as Python does. */
function result(template: string): string | null {
  try {
    return compileTemplate(template, () => "").render(fixture.variables);
  } catch (error) {
    return error instanceof UnsupportedJinjaError ? "refused" : null;
  }
}

/** The only differences from Python, by their reasons. */
const differences: {
  reason: string;
  concerns: (template: string) => boolean;
  ours: (text: string | null) => boolean;
}[] = [
  {
    reason: "Python's sandbox refuses append and pop; published templates that other servers render use them",
    concerns: (template) => template.includes(".append("),
    ours: (text) => text !== null,
  },
  {
    reason: "a negative number to a fraction is complex, which no template means",
    concerns: (template) => template.includes("**"),
    ours: (text) => text === "refused",
  },
  {
    reason: "methods and comparisons of texts that `safe` or `escape` marked",
    concerns: (template) => /\|(?:safe|e|escape)\b/.test(template),
    ours: (text) => text === "refused",
  },
];

test("3,200 generated templates give what Python's Jinja gives, as transformers sets it up", () => {
  expect(cases).toHaveLength(3200);
  const unlike = cases.filter(([template = "", expected]) => {
    const ours = result(template ?? "");
    if (ours === expected) return false;
    return !differences.some(({ concerns, ours: isOurs }) => concerns(template ?? "") && isOurs(ours));
  });
  expect(
    unlike.map(([template = "", expected]) => ({ template, expected, ours: result(template ?? "") })),
  ).toEqual([]);
  const same = cases.filter(([template = "", expected]) => result(template ?? "") === expected);
  expect(same.length).toBeGreaterThanOrEqual(3180);
});
