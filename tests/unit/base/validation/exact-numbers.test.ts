import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { jsonObject } from "../../../../src/apps/cli/terminal/option-values.ts";
import { parseJson } from "../../../../src/base/validation/parse-json.ts";
import { parseYaml } from "../../../../src/base/validation/parse-yaml.ts";

const messages = ({ problems }: ReturnType<typeof parseJson>) => problems.map(({ error }) => error.message);

test.each([
  ["9007199254740993", "f.json:1:17: the number 9007199254740993 in a.ids[1] cannot be kept exactly."],
  ["1e999", "f.json:1:17: the number 1e999 in a.ids[1] cannot be kept exactly."],
  ["NaN", "f.json:1:17: not valid JSON: JSON has no NaN in a.ids[1]."],
  ["-Infinity", "f.json:1:17: not valid JSON: JSON has no -Infinity in a.ids[1]."],
])("JSON: %s", (number, message) => {
  expect(messages(parseJson(`{"a":{"ids":[1, ${number}]}}`, "f.json"))).toEqual([
    expect.stringContaining(message),
  ]);
});

test.each(["9007199254740993", "1e999", "+9007199254740993", "0.1234567890123456789"])(
  "YAML: %s",
  (number) => {
    expect(messages(parseYaml(`a:\n  id: ${number}\n`, "f.yaml"))).toEqual([
      expect.stringContaining(`f.yaml:2:7: the number ${number} in a.id cannot be kept exactly.`),
    ]);
  },
);

test.each([
  '"9007199254740993"',
  "9007199254740992",
  "1e-9",
  ".inf",
  "v9007199254740993",
  "!!str 9007199254740993",
])("YAML keeps %s", (text) => {
  expect(messages(parseYaml(`a: ${text}\n`, "f.yaml"))).toEqual([]);
});

test("an option's JSON is refused if a number would change", () => {
  expect(() => jsonObject('{"id": 9007199254740993}')).toThrow(InvalidArgumentError);
  expect(() => jsonObject('{"id": 9007199254740993}')).toThrow(
    "the number 9007199254740993 cannot be kept exactly: put it in quotes, as text.",
  );
  expect(jsonObject('{"id": "9007199254740993"}')).toEqual({ id: "9007199254740993" });
});
