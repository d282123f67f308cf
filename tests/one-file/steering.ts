import { defineTool } from "everturn/plugin";

/** What steers a terminal: colors, its title, the clipboard, C1, a return, and text that runs backwards. */
export const hostile =
  "a\u001b[31mb\u001b]0;title\u0007c\u001b]52;c;eA==\u001b\\d\u009b2Je\rf\b\u202eg\u2066h\u007fi\tj\nk";

export default defineTool({
  name: "steering",
  description: `Answers what would steer a terminal: ${hostile}`,
  parameters: { type: "object", properties: { fail: { type: "boolean" } } },
  execute: ({ fail }) => {
    console.error(hostile);
    if (fail === true) throw new Error(hostile);
    return hostile;
  },
});
