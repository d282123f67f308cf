import { createHash, randomUUID } from "node:crypto";
import { defined } from "../../base/records/defined.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { CheckedMedia } from "../../plugin/host/checked-media.ts";
import { parseAction } from "./actions.ts";
import { type ObservationItem, observationItems, taskColumns } from "./observation-request.ts";
import type { ServedAnswer, ServedTools } from "./served-tools.ts";

/** A trajectory's part of an answer. */
interface ItemAnswer {
  observation: string | JsonObject;
  done: boolean;
  valid: boolean;
}

/** A trajectory's last request. */
interface Asked {
  what: string;
  request: object;
  answer: Promise<ItemAnswer>;
  isDelivered: boolean;
}

/** An answer, to be marked as `delivered` once the client has it. */
interface Observed {
  body: JsonObject;
  delivered(): void;
}

/** verl-tool's `POST /get_observation`. */
export interface VerlTool {
  /** Throws HttpProblem and the errors of `ServedTools.call`. */
  observe(body: unknown): Promise<Observed>;
}

/**
 * Serves verl-tool's clients. A client that got no answer repeats its request without marking it as the same. If a
 * trajectory repeats its last request, whose answer was not delivered, it therefore gets that answer, and no work is
 * repeated. With `call_id` in its extra fields, which Everturn's client sends, it gets the answer of the call with
 * that name, delivered or not.
 */
export function verlTool(tools: ServedTools): VerlTool {
  const last = new Map<string, Asked>();
  const usage = tools.functions.map(({ name, description }) => `• ${name}: ${description}`).join("\n");

  async function answerTo(item: ObservationItem, before: Promise<unknown> | undefined): Promise<ItemAnswer> {
    await before?.catch(() => {}); // its own caller gets this error
    const { trajectory, action, isLastStep } = item;
    if (item.finish) {
      await tools.release(trajectory);
      return { observation: "", done: true, valid: true };
    }
    const parsed = parseAction(action, tools.functions);
    if (parsed === undefined) {
      if (isLastStep) await tools.release(trajectory);
      const invalid_reason = "No valid tool found for action";
      const observation = { obs: "", invalid_reason, available_tools: `Available tools:\n${usage}` };
      return { observation, done: false, valid: false };
    }
    const answers: ServedAnswer[] = [];
    const id = typeof item.extra.call_id === "string" ? item.extra.call_id : randomUUID();
    for (const [index, call] of parsed.calls.entries()) {
      if ("problem" in call) {
        answers.push({ text: `error: ${call.problem}`, invalid: call.problem, done: false });
        continue;
      }
      const answer = await tools.call({
        ...call,
        trajectory,
        task: taskColumns(item),
        key: `${trajectory}/${id}/${index}`,
      });
      if (answer.failed !== undefined) {
        if (isLastStep) await tools.release(trajectory);
        const observation = {
          obs: "",
          error: `Tool processing failed: ${answer.failed}`,
          tool_type: call.function,
        };
        return { observation, done: true, valid: false };
      }
      answers.push(answer);
      if (answer.done) break;
    }
    if (isLastStep) await tools.release(trajectory);
    return told(answers, parsed.written);
  }

  return {
    observe: async (body) => {
      const items = observationItems(body);
      const began = performance.now();
      const request = {};
      const asked = items.map((item) => {
        const before = last.get(item.trajectory);
        const what = whatIsAsked(item);
        const isAgain = before?.what === what && before.request !== request;
        const isNamed = typeof item.extra.call_id === "string";
        if (before !== undefined && isAgain && (isNamed || !before.isDelivered))
          return { ...before, id: item.trajectory, entry: before };
        const entry: Asked = { what, request, answer: answerTo(item, before?.answer), isDelivered: false };
        last.set(item.trajectory, entry);
        entry.answer.catch(() => {
          if (last.get(item.trajectory) === entry) last.delete(item.trajectory);
        });
        return { id: item.trajectory, entry };
      });
      const answers = await Promise.all(asked.map(({ entry }) => entry.answer));
      return {
        body: {
          observations: answers.map(({ observation }) => observation),
          dones: answers.map(({ done }) => done),
          valids: answers.map(({ valid }) => valid),
          processing_time_ms: performance.now() - began,
          queue_time_ms: 0,
        },
        delivered: () => {
          for (const [index, { id, entry }] of asked.entries()) {
            entry.isDelivered = true;
            const isOver = items[index]?.finish || items[index]?.isLastStep;
            if (isOver && last.get(id) === entry) last.delete(id);
          }
        },
      };
    },
  };
}

function whatIsAsked({ trajectory: _, ...item }: ObservationItem): string {
  const { call_id: id } = item.extra;
  if (typeof id === "string") return `call ${id}`;
  return createHash("sha256").update(JSON.stringify(item)).digest("base64");
}

/** A trainer's observation: a text, or an object if it has more content. */
function told(answers: ServedAnswer[], written: (text: string) => string): ItemAnswer {
  const obs = answers.map(({ text }) => written(text)).join("");
  const invalid = answers.flatMap((one) => (one.invalid === undefined ? [] : [one.invalid]));
  const rewards = answers.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
  const images = answers.flatMap(({ media = [] }) => media.flatMap(imagesOf));
  const more: Record<string, JsonValue> = defined({
    reward: rewards.length === 0 ? undefined : rewards.reduce((sum, one) => sum + one, 0),
    image: images.length === 0 ? undefined : images,
    invalid_reason: invalid.length === 0 ? undefined : invalid.join(" "),
  });
  return {
    observation: Object.keys(more).length === 0 ? obs : { obs, ...more },
    done: answers.some(({ done }) => done),
    valid: invalid.length === 0,
  };
}

/** Images as data URLs, which verl-tool's trainer reads. */
function imagesOf({ frames }: CheckedMedia): string[] {
  return frames.map(
    ({ data, mediaType }) => `data:${mediaType};base64,${Buffer.from(data).toString("base64")}`,
  );
}
