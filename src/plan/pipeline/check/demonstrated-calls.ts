import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { suggestion } from "../../../base/validation/nearest.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import { argumentsValidator } from "../../../plugin/registry/validate-arguments.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { placeOfRow } from "../read/row-problems.ts";

/**
 * Returns the problems of demonstrated tool calls. Each distinct problem appears once, at the first row that
 * has it.
 */
export function demonstratedCallProblems(
  demonstrations: readonly DemonstratedChat[],
  tools: readonly ToolDefinition[],
): Problem[] {
  const names = tools.map(({ name }) => name);
  const validators = new Map(tools.map(({ name, parameters }) => [name, argumentsValidator(parameters)]));
  const found = new Map<string, { tool: string; reason: string; rows: Set<DemonstratedChat> }>();
  for (const row of demonstrations) {
    for (const { function: call } of row.messages.flatMap((message) => message.tool_calls ?? [])) {
      const validate = validators.get(call.name);
      const reason =
        validate === undefined
          ? `The pipeline has no such tool. ${suggestion(call.name, names, "Its tools") || "It has none."}`
          : validate(call.arguments);
      if (reason === undefined) continue;
      const key = JSON.stringify([call.name, reason]);
      const known = found.get(key) ?? { tool: call.name, reason, rows: new Set() };
      found.set(key, { ...known, rows: known.rows.add(row) });
    }
  }
  return [...found.values()].map(({ tool, reason, rows: [...rows] }) => {
    const place = placeOfRow(rows[0], "warmStart.demonstrations");
    const more = rows.length === 1 ? "" : `, as in ${rows.length - 1} more`;
    const params = { at: place.text, tool, more, reason };
    return { place, error: new EverturnError("DEMONSTRATED_CALL_INVALID", params) };
  });
}
