import { tool as langchainTool } from "@langchain/core/tools";
import { createTool } from "@mastra/core/tools";
import { tool as openAiTool, RunContext } from "@openai/agents-core";
import { recorded } from "everturn/agent";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { recordedTrajectory, stopAgent } from "../../support/recorded-trajectory.ts";

afterEach(stopAgent);

test("tools of three frameworks are made once, and known by the ids of their calls", async () => {
  const { start } = recordedTrajectory();
  let made = 0;
  const degrees = ({ city }: { city: string }) => `${city} ${++made}`;
  const parameters = z.object({ city: z.string() });
  const ofLangChain = recorded(
    "langchain",
    langchainTool(degrees, { name: "langchain", description: "d", schema: parameters }),
  );
  const ofMastra = recorded(
    "mastra",
    createTool({
      id: "mastra",
      description: "d",
      inputSchema: parameters,
      execute: async (input) => degrees(input),
    }),
  );
  const ofAgents = recorded(
    "agents",
    openAiTool({ name: "agents", description: "d", parameters, execute: degrees }),
  );
  const all = async () => [
    await ofLangChain.invoke({ type: "tool_call", id: "call_1", name: "langchain", args: { city: "Oslo" } }),
    await ofMastra.execute?.({ city: "Oslo" }, Object({ agent: { toolCallId: "call_2" } })),
    await ofAgents.invoke(new RunContext(), '{"city": "Oslo"}', Object({ toolCall: { callId: "call_3" } })),
  ];
  const text = (results: unknown[]) => results.map((one) => Reflect.get(Object(one), "content") ?? one);
  await start();
  const first = text(await all());
  expect(first).toEqual([1, 2, 3].map((number) => `Oslo ${number}`));
  const again = await start(1);
  expect(text(await all())).toEqual(first);
  expect(made).toBe(3);
  for (const [index, tool] of ["langchain", "mastra", "agents"].entries()) {
    const call = { id: `call_${index + 1}`, tool, arguments: { city: "Oslo" } };
    expect(again.madeFor(call), tool).toMatchObject({ attempts: 1 });
    expect(again.madeFor(call)).toBeUndefined();
  }
});
