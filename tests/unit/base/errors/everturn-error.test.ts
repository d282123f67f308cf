import { describe, expect, it } from "vitest";
import { EverturnError, isEverturnError } from "../../../../src/base/errors/everturn-error.ts";

describe("EverturnError", () => {
  it("says what was wrong and what to do", () => {
    const error = new EverturnError("DUPLICATE_KEY", { at: "a.yaml:3:1", key: "seed", line: 2 });
    expect(error.message).toBe(
      "a.yaml:3:1: the key “seed” appears twice in one mapping. Line 2 already contains it. Remove one of the two.",
    );
    expect(error).toMatchObject({ code: "DUPLICATE_KEY", retryable: false, params: { key: "seed" } });
  });

  it("fills parameters as they are, even where they look like placeholders", () => {
    const error = new EverturnError("YAML_SYNTAX", { at: "{reason}", reason: "$& {hint}", hint: "Mend it." });
    expect(error.message).toBe("{reason}: not valid YAML: $& {hint}. Mend it.");
  });

  it("keeps its cause", () => {
    const cause = new Error("disk full");
    const error = new EverturnError("TOOL_FAILED", { tool: "shell", reason: "disk full" }, { cause });
    expect(error.cause).toBe(cause);
    expect(error.retryable).toBe(true);
  });

  it("is recognized by its marker, whatever its class", () => {
    const error = new EverturnError("PIPELINE_EMPTY", { at: "a.yaml:1:1" });
    expect(isEverturnError(error)).toBe(true);
    expect(isEverturnError({ [Symbol.for("everturn.error")]: true })).toBe(true);
    expect(isEverturnError(new Error("no"))).toBe(false);
    expect(isEverturnError(null)).toBe(false);
  });
});
