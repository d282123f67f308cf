import { parseAction } from "../../src/chat/formats/parse-action.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Turn } from "../../src/contracts/generated/trajectory.ts";
import type { Message } from "../../src/contracts/message.ts";
import type { ParsedCall } from "../../src/contracts/parsed-action.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import type { Policy } from "../../src/contracts/policy.ts";
import { toolDefinitions } from "../../src/plan/pipeline/resolve/tool-definitions.ts";
import { checkedResponse } from "../../src/plugin/host/checked-response.ts";
import { loadPolicy, loadReward, loadTool } from "../../src/plugin/registry/registry.ts";

/** What a program without durability does: the plan's policy, tools and reward in a loop, all of it in memory. */
export interface BareLoop {
  /** A trajectory of the conversation that `sample` picks; the number of its turns. */
  run(task: Task, sample: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens the plan's plugins on the policy in `folder`. */
export async function openBareLoop(plan: Plan, folder: string): Promise<BareLoop> {
  const policy: Policy = await (await loadPolicy(plan.policy)).open(folder, plan.policy.config);
  await policy.load(0, folder);
  const definitions = toolDefinitions(plan);
  const [resolved] = plan.tools;
  const [scoring] = plan.rewards;
  if (resolved === undefined || scoring === undefined) throw new Error("the plan has no tool, or no reward");
  const reward = await loadReward(scoring);
  const { config } = scoring;
  const tool = await loadTool(resolved);
  const sampling = { temperature: 0, maxTokens: plan.rollout.maxActionTokens };

  async function run(task: Task, sample: number): Promise<number> {
    const id = `bare/task/${sample}`;
    let tokens: number[] = [];
    let pending: Message[] = task.prompt;
    const turns: Turn[] = [];
    for (let turn = 1; ; turn++) {
      const framed = turn === 1 ? policy.framePrompt(pending, definitions) : policy.frameObservation(pending);
      const key = { seed: plan.seed, trajectory: id, turn };
      tokens = [...tokens, ...framed.tokens];
      const action = await policy.generate({ tokens, version: 0, sampling, key, tools: definitions });
      tokens = [...tokens, ...action.tokens];
      turns.push({ action: action.text, toolCalls: [] });
      const { calls } = parseAction(action.text);
      if (calls.length === 0) {
        const { signal } = new AbortController();
        await reward.score({ task, turns, outcome: "answered", answer: action.text, config, signal });
        return turn;
      }
      pending = await Promise.all(calls.map((call, index) => observe(call, `${id}/${turn}/${index}`)));
    }
  }

  async function observe(call: ParsedCall, key: string): Promise<Message> {
    if (call.problem !== undefined) return { role: "tool", content: call.problem };
    const execution = { instance: key, function: "", key, attempt: 1, config: resolved?.config ?? {} };
    const { signal } = new AbortController();
    const answer = await tool.execute(call.arguments, { ...execution, signal, isReplay: false }, undefined);
    return { role: "tool", name: call.name, content: checkedResponse(call.name, answer).text };
  }

  return { run, close: () => policy.close() };
}
