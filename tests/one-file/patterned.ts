import { defineTool } from "everturn/plugin";

export default defineTool({
  name: "patterned",
  description: "Tells a text that consists of a's.",
  parameters: {
    type: "object",
    required: ["text"],
    properties: {
      text: { type: "string", pattern: "^(a+)+$" },
      word: { type: "string", pattern: "^(?=(b+)+$)b*$" },
    },
  },
  execute: ({ text }) => String(text),
});
