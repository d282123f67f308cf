import { Ajv } from "ajv";
import { findingsOf } from "../../base/validation/findings.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import { isObject } from "../../contracts/json.ts";

/** One trajectory's part of a request. */
export interface ObservationItem {
  trajectory: string;
  action: string;
  extra: JsonObject;
  finish: boolean;
  isLastStep: boolean;
}

interface Body {
  trajectory_ids: string[];
  actions: string[];
  extra_fields?: JsonObject[] | null;
  finish?: boolean[] | null;
  is_last_step?: boolean[] | null;
  [key: string]: JsonValue | undefined;
}

const flags = { type: ["array", "null"], items: { type: "boolean" } };
const texts = { type: "array", minItems: 1, maxItems: 4096, items: { type: "string" } };

const validate = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<Body>({
  type: "object",
  required: ["trajectory_ids", "actions"],
  properties: {
    trajectory_ids: texts,
    actions: texts,
    extra_fields: { type: ["array", "null"], items: { type: "object" } },
    finish: flags,
    is_last_step: flags,
  },
});

const known = new Set(["trajectory_ids", "actions", "extra_fields", "finish", "is_last_step"]);

/**
 * The items of a verl-tool client's request. An unknown key whose list has an item per trajectory is one of
 * `extra_fields`, as in older versions. Throws the answer to an invalid request.
 */
export function observationItems(body: unknown): ObservationItem[] {
  if (!validate(body)) {
    const findings = findingsOf(validate.errors ?? [], { base: "", whole: "the request" });
    throw new HttpProblem(
      422,
      findings.map(({ error }) => error("the request").message.replace(/^the request: /, "")).join(" "),
    );
  }
  const { trajectory_ids: ids, actions, extra_fields: extras, finish, is_last_step: last } = body;
  for (const [name, list] of Object.entries({ actions, extra_fields: extras, finish, is_last_step: last })) {
    if (list !== undefined && list !== null && list.length !== ids.length)
      throw new HttpProblem(
        422,
        `${name} has ${list.length} items, but trajectory_ids has ${ids.length}. Give one for each.`,
      );
  }
  const beside = Object.entries(body).flatMap(([key, list]) =>
    !known.has(key) && Array.isArray(list) && list.length === ids.length ? [[key, list] as const] : [],
  );
  return ids.map((trajectory, index) => {
    const older = Object.fromEntries(beside.map(([key, list]) => [key, list[index] ?? null]));
    const extra = { ...older, ...extras?.[index] };
    return {
      trajectory,
      action: actions[index] ?? "",
      extra,
      finish: (finish?.[index] ?? extra.finish) === true,
      isLastStep: (last?.[index] ?? extra.is_last_step) === true,
    };
  });
}

/**
 * The task for which an item's instances are created. Its extra fields are the row's `extra_info`, as verl-tool's
 * trainer sends it.
 */
export function taskColumns({ extra }: ObservationItem): { extra_info: JsonObject } {
  const { extra_info: own, ...fields } = extra;
  return { extra_info: isObject(own) ? { ...fields, ...own } : fields };
}
