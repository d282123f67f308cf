import { defineLoop } from "everturn/workflow";

/** Answers each action by a call of the tool of its own, so many times. */
export default defineLoop({
  config: {
    type: "object",
    additionalProperties: false,
    properties: { times: { type: "integer", minimum: 0, default: 1 } },
  },
  async turn({ turn, config, generate, callTool, append }) {
    await generate();
    if (turn > config.times) return "answered";
    append([await callTool({ name: "length", arguments: { value: turn, unit: "km" } })]);
    return "continue";
  },
});
