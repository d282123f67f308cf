import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";

/** An observation as the policy reads it. `field` is the one to read; default: all without metadata. */
export function observationText(observation: JsonObject, field: string | undefined): string {
  if (field !== undefined) return text(observation[field]);
  if ("tool_name" in observation) return toolText(observation);
  const { metadata: _, done: __, reward: ___, ...rest } = observation;
  const values = Object.values(rest);
  return values.length === 1 ? text(values[0]) : JSON.stringify(rest);
}

/** The result of a tool: its error, its texts, or its JSON. */
function toolText({ result, error }: JsonObject): string {
  if (isObject(error)) return `error: ${text(error.message)}`;
  const { content, data } = isObject(result) ? result : {};
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  const texts = parts.flatMap((part) => (typeof part.text === "string" ? [part.text] : []));
  return texts.length > 0 ? texts.join("\n") : text(data ?? result);
}

function text(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
