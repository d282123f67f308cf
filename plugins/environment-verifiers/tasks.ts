import type { JsonObject, JsonValue, Task } from "everturn/plugin";
import { isObject, readJsonLines } from "everturn/plugin";

/** The tasks in a file with the data of a task in each line. Throws with the place of each that is not an object. */
export function readTasks(path: string, limit: number | undefined): Task[] {
  return readJsonLines(path).slice(0, limit).map(taskOf);
}

/** The data that a task was made from. */
export function rowOf({ extra_info: { verifiers: row } = {} }: Task): JsonObject {
  return isObject(row) ? row : {};
}

/** The harness writes the prompt. The task's own shows what it begins with. */
function taskOf(row: JsonObject, index: number): Task {
  const { system_prompt: system, prompt, name, answer } = row;
  const before = typeof system === "string" ? [{ role: "system" as const, content: system }] : [];
  const messages: JsonValue[] = Array.isArray(prompt) ? prompt : [{ role: "user", content: prompt ?? "" }];
  return {
    data_source: "verifiers",
    prompt: [...before, ...messages.filter(isObject).flatMap(messageOf)],
    reward_model: { ground_truth: typeof answer === "string" ? answer : "" },
    extra_info: { index, name: typeof name === "string" ? name : String(index), verifiers: row },
  };
}

function messageOf({ role, content }: JsonObject): Task["prompt"] {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return role === "system" || role === "user" || role === "assistant" ? [{ role, content: text }] : [];
}
