import { expect, test } from "vitest";
import { parseKeepingDigits } from "../../../../src/base/json/kept-digits.ts";

test("numbers that a double would change are written as they were, and all others are numbers", () => {
  const text =
    '{"id":9007199254740993,"far":1e999,"list":[0.12345678901234567890,1.5],"text":"9007199254740993"}';
  expect(JSON.stringify(parseKeepingDigits(text))).toBe(text);
  expect(parseKeepingDigits('{"a":[1,2.50,-0],"b":null}')).toEqual({ a: [1, 2.5, -0], b: null });
  expect(() => parseKeepingDigits("{oops")).toThrow(SyntaxError);
});
