import { defineTool } from "everturn/plugin";

/** Repeats a text, except that calls with `lost` fail: the tool's host, not what it was asked, with the text in the message. */
export default defineTool({
  name: "vault",
  description: "Keeps a text.",
  parameters: {
    type: "object",
    properties: { text: { type: "string" }, lost: { type: "boolean" } },
    required: ["text"],
  },
  retry: { initialInterval: "40s", maximumInterval: "40s", maximumAttempts: 2 },
  execute: ({ text, lost }) => {
    if (process.env.EVERTURN_CODEC_KEYS !== undefined) throw new Error("tools must not get the keys");
    if (lost === true) throw new Error(`the vault lost ${text}`);
    return `the vault holds ${text}`;
  },
});
