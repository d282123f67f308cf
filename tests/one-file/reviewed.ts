import { defineLoop } from "everturn/workflow";

/** Has a sub-agent look at each draft before the answer. */
export default defineLoop({
  config: {
    type: "object",
    additionalProperties: false,
    properties: { drafts: { type: "integer", minimum: 1, default: 2 } },
  },
  async turn({ turn, config, state, generate, agent, say }) {
    const prompt = [{ role: "user" as const, content: "You review answers. Say what is wrong with them." }];
    const critic = agent("critic", { prompt, tools: [] });
    if (turn % 2 === 1) {
      state.draft = (await generate()).text;
      return turn === 2 * config.drafts + 1 ? "answered" : "continue";
    }
    critic.say(`The answer: ${state.draft}`);
    const { text } = await critic.generate();
    say(`A critic says: ${text}`);
    return "continue";
  },
});
