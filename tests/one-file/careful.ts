import { defineLoop } from "everturn/workflow";

/** Waits, asks a person and a tool that the policy does not know, tells the policy what they said, and takes its answer. */
export default defineLoop({
  config: {
    type: "object",
    additionalProperties: false,
    properties: { wait: { type: "integer", minimum: 0, default: 20 } },
  },
  async turn({ turn, config, generate, parse, sleep, useTool, say }) {
    const action = await generate();
    if (turn > 1) return "answered";
    await sleep(config.wait);
    const { answer } = parse(action);
    const [person, tool] = await Promise.all([
      useTool("ask", { question: `Is this right: ${answer}?` }),
      useTool("pin", { note: answer }),
    ]);
    say(`The person said: ${person.text} The board has ${tool.text} note.`);
    return "continue";
  },
});
