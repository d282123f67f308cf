import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { suggestion } from "../../../base/validation/nearest.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { isAgentLoop } from "../../../contracts/plan-loops.ts";
import { argumentsValidator } from "../../../plugin/registry/validate-arguments.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { placeOfRow } from "../read/row-problems.ts";
import { offeredTools } from "../resolve/tool-definitions.ts";

/** What is wrong with a call. */
interface Wrong {
  code: "DEMONSTRATED_CALL_INVALID" | "DEMONSTRATED_TOOL_NOT_SHOWN";
  reason: string;
}

/**
 * Returns the problems of demonstrated tool calls. Each distinct problem appears once, at the first row that
 * has it.
 */
export function demonstratedCallProblems(plan: Plan, demonstrations: readonly DemonstratedChat[]): Problem[] {
  const offered = offeredTools(plan);
  const unknown = isAgentLoop(plan.loop) ? "DEMONSTRATED_TOOL_NOT_SHOWN" : "DEMONSTRATED_CALL_INVALID";
  const check = argumentsCheck();

  function wrongCall(row: DemonstratedChat, name: string, given: JsonObject): Wrong | undefined {
    const tools = row.tools ?? offered;
    const tool = tools.find((one) => one.name === name);
    if (tool !== undefined) {
      const reason = check(tool, given);
      return reason === undefined ? undefined : { code: "DEMONSTRATED_CALL_INVALID", reason };
    }
    const names = tools.map((one) => one.name);
    const others = suggestion(name, names, "Its tools") || "It has none.";
    return row.tools === undefined
      ? { code: unknown, reason: `The pipeline has no such tool. ${others}` }
      : { code: "DEMONSTRATED_CALL_INVALID", reason: `The row has no such tool. ${others}` };
  }

  const found = new Map<string, Wrong & { tool: string; rows: Set<DemonstratedChat> }>();
  for (const row of demonstrations) {
    for (const { function: call } of row.messages.flatMap((message) => message.tool_calls ?? [])) {
      const wrong = wrongCall(row, call.name, call.arguments);
      if (wrong === undefined) continue;
      const key = JSON.stringify([call.name, wrong.reason]);
      const known = found.get(key) ?? { ...wrong, tool: call.name, rows: new Set() };
      found.set(key, { ...known, rows: known.rows.add(row) });
    }
  }
  return [...found.values()].map(({ code, tool, reason, rows: [...rows] }) => {
    const place = placeOfRow(rows[0], "warmStart.demonstrations");
    const more = rows.length === 1 ? "" : `, as in ${rows.length - 1} more`;
    const params = { at: place.text, tool, more, reason };
    return { place, error: new EverturnError(code, params) };
  });
}

/** Returns `argumentsValidator` by tool. Rows share their tools, so each schema is compiled once. */
function argumentsCheck(): (tool: ToolDefinition, given: JsonObject) => string | undefined {
  const validators = new Map<ToolDefinition, ReturnType<typeof argumentsValidator>>();
  return (tool, given) => {
    const validate = validators.get(tool) ?? validatorOf(tool);
    validators.set(tool, validate);
    return validate(given);
  };
}

/** The agent checks the calls of its own tools. It may understand a schema that can't be compiled here. */
function validatorOf({ parameters }: ToolDefinition): ReturnType<typeof argumentsValidator> {
  try {
    return argumentsValidator(parameters);
  } catch {
    return () => undefined;
  }
}
