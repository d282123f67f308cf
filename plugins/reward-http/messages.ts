import type { JsonObject, ScoreRequest } from "everturn/plugin";

/** The trajectory as a chat: its prompt, followed by each action and the answers of its tools. */
export function messagesOf({ task, turns }: Pick<ScoreRequest, "task" | "turns">): JsonObject[] {
  return [
    ...task.prompt.map((message): JsonObject => JSON.parse(JSON.stringify(message))),
    ...turns.flatMap(({ action, toolCalls }): JsonObject[] => [
      { role: "assistant", content: action },
      ...toolCalls.map(({ observation }): JsonObject => ({ role: "tool", content: observation })),
    ]),
  ];
}
