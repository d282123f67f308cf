import { describe, expect, it } from "vitest";
import { inRange } from "../../../../src/plugin/registry/engine-range.ts";

describe("inRange", () => {
  it.each([
    ["0.1.0", "^0.1.0"],
    ["0.1.9", "^0.1.0"],
    ["1.9.0", "^1.2.3"],
    ["0.0.3", "^0.0.3"],
    ["1.2.9", "~1.2.3"],
    ["0.2.0", ">=0.1.0 <0.3.0"],
    ["2.0.0", "^1.0.0 || ^2.0.0"],
    ["9.9.9", "*"],
    ["1.0.0", "1.0.0"],
    ["1.0.0", "<=1.0.0"],
  ])("%s is in %s", (version, range) => expect(inRange(version, range)).toBe(true));

  it.each([
    ["0.2.0", "^0.1.0"],
    ["0.1.0", "^0.1.1"],
    ["2.0.0", "^1.2.3"],
    ["0.0.4", "^0.0.3"],
    ["1.3.0", "~1.2.3"],
    ["0.3.0", ">=0.1.0 <0.3.0"],
    ["1.0.1", "1.0.0"],
    ["1.0.0", ">1.0.0"],
  ])("%s is not in %s", (version, range) => expect(inRange(version, range)).toBe(false));
});
