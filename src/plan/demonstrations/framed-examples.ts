import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { shownMessages } from "../../chat/images/message-images.ts";
import type { MaskedTokens, Policy } from "../../contracts/policy.ts";
import { loadPolicy } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { inPart } from "../../run/store/tree-part.ts";
import { measuredMessages } from "../../run/trajectory/measured-messages.ts";
import { policyPart } from "../../run/versions/version-parts.ts";
import type { DemonstratedChat } from "../pipeline/read/demonstrated-chat.ts";
import { checkExampleFile, exampleFile } from "../pipeline/read/example-files.ts";
import { frameChat, readExamples } from "../pipeline/read/examples.ts";
import { rowToolsFor, toolsOfChats } from "../pipeline/resolve/demonstrated-tools.ts";
import { type ExampleRows, exampleRows } from "./example-rows.ts";

/**
 * Chats as the policy of a run frames them. Framing thousands takes seconds, so each chat becomes tokens
 * once, when it is first needed.
 */
export interface FramedChats {
  readonly length: number;
  /** Returns the chats at `indices`, in that order. */
  at(indices: readonly number[]): Promise<MaskedTokens[]>;
}

/** The examples of a run. */
export interface FramedExamples {
  learned: FramedChats;
  /** In the same order. Empty for demonstrations. */
  rejected: FramedChats;
  /** The trained and the held-out rows. */
  rows: ExampleRows;
}

/** Reads the examples that the steps of a run train on. Throws WRONG_CONFIGURATION, EXAMPLES_CHANGED. */
export async function framedExamples(run: OpenRun): Promise<FramedExamples> {
  checkExampleFile(run.plan, exampleFile(run.plan));
  const { learned, rejected } = await readExamples(run.plan, rowToolsFor(run.plan));
  return {
    learned: framedChats(run, learned),
    rejected: framedChats(run, rejected),
    rows: exampleRows(run.plan, learned.length),
  };
}

/** Frames chats on demand. */
export function framedChats({ plan, store }: OpenRun, chats: readonly DemonstratedChat[]): FramedChats {
  const framed = new Map<number, MaskedTokens>();

  async function frame(indices: readonly number[]): Promise<void> {
    await inPart(store, policyPart(plan, 0), async (folder) => {
      const policy = await (await loadPolicy(plan.policy)).open(folder, plan.policy.config);
      const toolsOf = toolsOfChats(plan);
      try {
        for (const index of indices) {
          const chat = chats[index];
          if (chat === undefined) continue;
          framed.set(index, frameChat(policy, await withImages(chat, policy), toolsOf(chat)));
        }
      } finally {
        await policy.close();
      }
    });
  }

  async function withImages(chat: DemonstratedChat, policy: Policy): Promise<DemonstratedChat> {
    if (chat.shown === undefined) return chat;
    const refused = (reason: string, cause?: unknown) =>
      new EverturnError("IMAGE_UNUSABLE", { at: "demonstrations", tasks: "a row", reason }, { cause });
    const shown = await shownMessages(chat.shown, plan.dataset.images, store.bytes).catch((error) => {
      throw refused(messageOf(error), error);
    });
    const measured = await measuredMessages(shown, policy, store);
    if ("reason" in measured) throw refused(measured.reason);
    return { ...chat, messages: measured.messages };
  }

  return {
    length: chats.length,
    at: async (indices) => {
      const missing = [...new Set(indices)].filter((index) => !framed.has(index));
      if (missing.length > 0) await frame(missing);
      return indices.flatMap((index) => framed.get(index) ?? []);
    },
  };
}
