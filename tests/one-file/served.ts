import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTool, defineToolset } from "everturn/plugin";
import { z } from "zod";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** A trajectory's notes, and what may go wrong between two of them. */
export const pad = defineToolset({
  name: "pad",
  recovery: "replay",
  capabilities: { files: true },
  retry: { maximumAttempts: 2, initialInterval: "1ms" },
  create: ({ task }): { notes: string[] } => ({ notes: [String(task.extra_info?.title ?? "untitled")] }),
  functions: {
    note: {
      description: "Writes a line.",
      parameters: z.object({ text: z.string().min(1) }),
      execute({ text }, _, { notes }) {
        notes.push(text);
        return notes.join(", ");
      },
    },
    crash: {
      description: "Ends its thread, the first time that it is called with this file.",
      parameters: z.object({ file: z.string() }),
      execute({ file }, { isReplay }, { notes }) {
        if (!isReplay && !existsSync(file)) {
          appendFileSync(file, "crashed\n");
          process.exit(1);
        }
        return notes.join(", ");
      },
    },
    refuse: {
      description: "Fails for good.",
      parameters: z.object({}),
      execute: () => {
        throw new Error("the host is away");
      },
    },
  },
});

/** Counts in a file how often it was called, and answers once another file is there. */
export const held = defineTool({
  name: "held",
  description: "Waits.",
  capabilities: { files: true },
  timeout: "60s",
  parameters: z.object({ count: z.string(), until: z.string() }),
  async execute({ count, until }) {
    appendFileSync(count, "called\n");
    while (!existsSync(until)) await sleep(5);
    return readFileSync(count, "utf8").split("\n").length - 1;
  },
});

export const screen = defineTool({
  name: "screen",
  description: "Shows an image, for a point.",
  parameters: z.object({}),
  execute: () => ({
    text: "seen",
    content: [{ type: "image" as const, data: pixel }],
    reward: 0.5,
    done: true,
  }),
});

/** Takes its time to free what it holds. */
export const leisurely = defineTool({
  name: "leisurely",
  description: "Holds something.",
  parameters: z.object({}),
  recovery: "replay",
  create({ hold }) {
    hold("something");
    return {};
  },
  execute: () => "held",
  release: () => sleep(200),
  reap: () => {},
});
