import type { JsonObject, ScoreRequest } from "everturn/plugin";

/** The trajectory as a chat: its prompt, then each action and what its tools answered. */
export function messagesOf({ task, turns }: Pick<ScoreRequest, "task" | "turns">): JsonObject[] {
  return [
    ...task.prompt.map((message): JsonObject => JSON.parse(JSON.stringify(message))),
    ...turns.flatMap(({ action, toolCalls }): JsonObject[] => [
      { role: "assistant", content: action },
      ...toolCalls.map(({ observation }): JsonObject => ({ role: "tool", content: observation })),
    ]),
  ];
}
