import { expect, test } from "vitest";
import type { Turn } from "../../../../src/contracts/generated/trajectory.ts";
import { cut, summary } from "../../../../src/run/projections/cut.ts";
import { transcript } from "../../../../src/run/projections/transcript.ts";

const open = (turns: Turn[]) => ({ turns: turns.length, shown: { first: turns, newest: [] } });
const bytes = (text: string) => Buffer.byteLength(text);

test("text is cut between characters, to bytes, with an ellipsis", () => {
  expect(cut("short", 5)).toBe("short");
  expect(cut("longer", 5)).toBe("lo…");
  expect(cut("日本語です", 10)).toBe("日本…");
  expect(cut("ab🙂🙂", 9)).toBe("ab🙂…");
  for (let limit = 4; limit < 40; limit++) {
    const text = cut("aé日🙂".repeat(4), limit);
    expect(bytes(text)).toBeLessThanOrEqual(limit);
    expect(text).not.toContain("�");
  }
});

test("a summary is one line", () => {
  expect(summary("  State the\nanswer:\t1 + 1 = ")).toBe("State the answer: 1 + 1 =");
  expect(bytes(summary("語".repeat(1000)))).toBeLessThanOrEqual(400);
});

test("a transcript reads like a chat, within what Temporal shows, also where it is long", () => {
  const call = { arguments: {}, observation: "3", valid: true, attempts: 1 };
  const turns = [
    { action: '<tool_call>{"name": "calculator"}</tool_call>', toolCalls: [{ tool: "calculator", ...call }] },
    { action: "Answer: 3", toolCalls: [] },
  ];
  expect(transcript("1 + 2 =", open(turns))).toMatchInlineSnapshot(`
    "**task** 1 + 2 =

    **turn 1**
    \`\`\`
    <tool_call>{"name": "calculator"}</tool_call>
    \`\`\`
    tool \`calculator\` answered
    \`\`\`
    3
    \`\`\`

    **turn 2**
    \`\`\`
    Answer: 3
    \`\`\`"
  `);
  const long = Array.from({ length: 20 }, () => ({ action: "語".repeat(20_000), toolCalls: [] }));
  expect(bytes(transcript("?", open(long)))).toBeLessThanOrEqual(20_000);
});

test("text of a model stays inside its block", () => {
  const text = transcript("?", open([{ action: "```\n# not a heading\n````", toolCalls: [] }]));
  expect(text).toContain("`````\n```\n# not a heading\n````\n`````");
});
