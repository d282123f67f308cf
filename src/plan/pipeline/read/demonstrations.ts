import atifSchema from "../../../../schemas/atif.schema.json" with { type: "json" };
import demonstrationSchema from "../../../../schemas/demonstration.schema.json" with { type: "json" };
import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { parseJsonLines, type RowCheck, standsAs } from "../../../base/validation/json-lines.ts";
import { displayPath } from "../../../base/validation/place.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { readText } from "../../../base/validation/read-text.ts";
import { validatorOf } from "../../../base/validation/validator.ts";
import type { Atif } from "../../../contracts/generated/atif.ts";
import type { Demonstration } from "../../../contracts/generated/demonstration.ts";
import { isObject } from "../../../contracts/json.ts";
import { atifChats } from "./atif-chats.ts";
import { type DemonstratedChat, demonstratedChat } from "./demonstrated-chat.ts";
import { placeOfRow } from "./row-problems.ts";
import { noRowTools, type RowTools } from "./row-tools.ts";

const validators = {
  chat: validatorOf<Demonstration>(demonstrationSchema),
  atif: validatorOf<Atif>(atifSchema),
};

/**
 * Reads a demonstrations file, by default without the tools of its rows. Its rows (JSON Lines) are chats, or
 * trajectories in Harbor's Agent Trajectory Interchange Format. A file that ends in .json contains one of them. Throws
 * WRONG_CONFIGURATION with line and column of each bad row.
 */
export async function readDemonstrations(
  path: string,
  rowTools: RowTools = noRowTools,
): Promise<DemonstratedChat[]> {
  const whole = path.endsWith(".json");
  const rows = parseJsonLines(readText(path), path, rowCheck(), { whole, prepare: withoutNulls });
  const problems: Problem[] = [];
  const chats = rows.flatMap((row) => {
    const place = placeOfRow(row, displayPath(path));
    try {
      const found = isAtif(row)
        ? atifChats(row, place.text, rowTools)
        : [demonstratedChat(row, place.text, rowTools)];
      return found.map((chat) => standsAs(row, chat));
    } catch (error) {
      if (!isEverturnError(error)) throw error;
      problems.push({ place, error });
      return [];
    }
  });
  if (problems.length > 0) throw refusal(displayPath(path), problems);
  return chats;
}

/** A row without messages is a trajectory if it names the version of that format. */
function isAtif(row: unknown): row is Atif {
  return isObject(row) && Object.hasOwn(row, "schema_version") && !Object.hasOwn(row, "messages");
}

function rowCheck(): RowCheck<Demonstration | Atif> {
  const check: RowCheck<Demonstration | Atif> = (row) => {
    const validate = isAtif(row) ? validators.atif() : validators.chat();
    const isValid = validate(row);
    check.errors = validate.errors ?? null;
    return isValid;
  };
  return check;
}

/** Keys of trajectories whose values may contain null. */
const free = new Set(["arguments", "extra", "tool_definitions"]);

/** A trajectory without its null fields, which count as absent. Other rows stay unchanged. */
function withoutNulls(row: unknown): unknown {
  return isAtif(row) ? pruned(row) : row;
}

function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(kept.map(([key, one]) => [key, free.has(key) ? one : pruned(one)]));
}
