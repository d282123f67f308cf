import type { ToolPlugin } from "everturn/plugin";

/** A function for each word of its configuration, which says the word and what it is given. */
const told: ToolPlugin = {
  functions({ words, fault }) {
    if (fault !== undefined) throw new Error(String(fault));
    const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    const names = Array.isArray(words) ? words.map(String) : [];
    return Object.fromEntries(names.map((word) => [word, { description: `Says ${word}.`, parameters }]));
  },
  execute: ({ text }, execution) => `${execution.function} ${text}`,
};

export default told;
