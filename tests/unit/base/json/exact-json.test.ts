import { describe, expect, test } from "vitest";
import {
  InexactNumberError,
  inexactNumber,
  isExact,
  parseExactJson,
} from "../../../../src/base/json/exact-json.ts";
import { NestedTooDeepError } from "../../../../src/base/json/nesting.ts";

describe("numbers that JavaScript keeps", () => {
  test.each([
    "0",
    "-0",
    "-0.0",
    "0e999",
    "7",
    "-7",
    "9007199254740992",
    "9007199254740991",
    "-9007199254740992",
    "0.1",
    "0.30000000000000004",
    "0.10000000000000001",
    "1.10",
    "100000000000000000000",
    "1e21",
    "1E+2",
    "123e-2",
    "5e-324",
    "1.7976931348623157e308",
    "12345678901234.5",
    "0.000000000000000000001",
  ])("%s", (literal) => {
    expect(isExact(literal)).toBe(true);
    expect(parseExactJson(`{"a":[${literal}]}`)).toEqual({ a: [Number(literal)] });
  });
});

describe("numbers that JavaScript would change", () => {
  test.each([
    "9007199254740993",
    "-9007199254740993",
    "1e999",
    "-1e999",
    "1e-400",
    "3.14159265358979323846",
    "0.12345678901234567",
    "0.1234567890123456789",
    "12345678901234567890",
    "9007199254740993.0",
    "9007199254740993e0",
    "1e99999999999999999999",
  ])("%s", (literal) => {
    expect(isExact(literal)).toBe(false);
    expect(() => parseExactJson(`{"a":[${literal}]}`)).toThrow(InexactNumberError);
  });
});

test("a number in a string, a key or after an escaped quote is text", () => {
  const text = '{"9007199254740993":"1e999 \\" 9007199254740993","b":"\\\\"}';
  expect(inexactNumber(text)).toBeUndefined();
  expect(parseExactJson(text)).toEqual({ "9007199254740993": '1e999 " 9007199254740993', b: "\\" });
});

test("the number is named with its place", () => {
  expect(inexactNumber('{"id": 9007199254740993}')).toEqual({ literal: "9007199254740993", offset: 7 });
});

test("what is not JSON is a SyntaxError", () => {
  expect(() => parseExactJson("{")).toThrow(SyntaxError);
});

test("long strings and deep lists are read without a limit", () => {
  const deep = `${"[".repeat(50_000)}1e2${"]".repeat(50_000)}`;
  expect(inexactNumber(deep)).toBeUndefined();
  expect(inexactNumber(`["${"9".repeat(5_000_000)}"]`)).toBeUndefined();
});

test("what is nested without end is no JSON text", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(parseExactJson(nested(500))).toEqual(JSON.parse(nested(500)));
  for (const levels of [501, 100_000])
    expect(() => parseExactJson(nested(levels))).toThrow(NestedTooDeepError);
  const wide = Array.from({ length: 200_000 }, (_, index) => [index]);
  expect(parseExactJson(JSON.stringify(wide))).toEqual(wide);
});
