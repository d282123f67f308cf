import { expect, test } from "vitest";
import { cutText } from "../../../../src/work/tools/cut-text.ts";

test.for([
  ["end", 4, "0123\n[6 characters cut]"],
  ["start", 4, "[6 characters cut]\n6789"],
  ["middle", 4, "01\n[6 characters cut]\n89"],
  ["middle", 5, "012\n[5 characters cut]\n89"],
  ["middle", 10, "0123456789"],
] as const)(
  "a text is cut at its %s to %i characters, and says so where it was",
  ([cut, characters, kept]) => {
    expect(cutText("0123456789", { characters, cut })).toBe(kept);
  },
);

test.for(["end", "start", "middle"] as const)("no character is cut in half at the %s", (cut) => {
  for (let characters = 1; characters < 12; characters++) {
    const text = cutText("🦜🦜🦜🦜🦜🦜", { characters, cut });
    expect(text.isWellFormed(), `${characters} characters`).toBe(true);
    expect(text.replace(/\n?\[\d+ characters cut\]\n?/, "").length).toBeLessThanOrEqual(characters);
    expect(Number(/\d+/.exec(text)?.[0]) + text.replace(/\n?\[\d+ characters cut\]\n?/, "").length).toBe(12);
  }
});
