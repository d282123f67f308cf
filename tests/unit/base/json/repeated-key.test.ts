import { expect, test } from "vitest";
import { repeatedKey } from "../../../../src/base/json/repeated-key.ts";

test("a key that one object has twice is found, however it is written", () => {
  expect(repeatedKey('{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}')).toBeUndefined();
  expect(repeatedKey('{"a":"\\"a\\":","b":["a","a"]}')).toBeUndefined();
  expect(repeatedKey('{"a":1,"b":2,"a" : 3}')).toBe("a");
  expect(repeatedKey('{"a":1,"\\u0061":2}')).toBe("a");
  expect(repeatedKey('[{"x":{"b":1,"b":1}}]')).toBe("b");
});
