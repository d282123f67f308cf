import { createHash } from "node:crypto";
import { join } from "node:path";
import OpenAI from "openai";
import sharp from "sharp";
import { afterEach, expect, test } from "vitest";
import { type Endpoint, startEndpoint } from "../../../../src/chat/openai/endpoint-server.ts";
import type { SessionRequest } from "../../../../src/contracts/session.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { framedMessages } from "../../../../src/work/agents/framed-messages.ts";
import { openTrajectorySession } from "../../../../src/work/agents/trajectory-session.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const { rollout } = await loadPlan(join(import.meta.dirname, "../../../pipelines/scripted.yaml"));
const place = { id: "r/step-0001/t/0", run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 };
const solid = (background: string) => sharp({ create: { width: 6, height: 4, channels: 3, background } });
const [red, blue] = [await solid("red").png().toBuffer(), await solid("blue").jpeg().toBuffer()];
const url = (data: Uint8Array) => `data:image/png;base64,${Buffer.from(data).toString("base64")}`;
const digest = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");

let endpoint: Endpoint | undefined;
afterEach(() => endpoint?.close());

/** A client whose requests are those of a trajectory; `readsImages`: of one whose policy reads images. */
async function client({ readsImages }: { readsImages: boolean }) {
  const store = openRunStore(temporaryFolder());
  const asked: SessionRequest[] = [];
  const generate = async (request: SessionRequest) => {
    const turn = asked.push(request);
    return {
      turn,
      head: `head${turn}`,
      action: `answer ${turn}`,
      finishReason: "stop" as const,
      tokens: { prompt: 1, action: 1 },
    };
  };
  const session = await openTrajectorySession(
    place,
    { rollout },
    store,
    generate,
    readsImages ? store.bytes : undefined,
  );
  endpoint = await startEndpoint({
    answer: (_, request, { key, occurrence }) => session.answer(request, `${key}/${occurrence}`),
    authenticate: (key) => key,
    models: ["policy"],
    log: () => {},
    takesImages: true,
  });
  return { store, asked, openai: new OpenAI({ baseURL: endpoint.url, apiKey: "key", maxRetries: 0 }) };
}

const said = (data: string) => ({
  role: "user" as const,
  content: [
    { type: "text" as const, text: "What is" },
    { type: "image_url" as const, image_url: { url: data } },
    { type: "text" as const, text: "this?" },
  ],
});

test("images of an agent are kept by their content, and a conversation with the same images goes on", async () => {
  const { store, asked, openai } = await client({ readsImages: true });
  const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
    openai.chat.completions.create({ model: "policy", messages });
  await ask([said(url(red))]);
  const image = { sha256: digest(red), mediaType: "image/png", width: 6, height: 4, at: 7 };
  expect(asked[0]?.messages).toEqual([{ role: "user", content: "What is\nthis?", images: [image] }]);
  expect(framedMessages(asked[0]!)).toEqual([{ role: "user", content: "What is\nthis?", images: [image] }]);
  expect(await store.hasBytes(digest(red))).toBe(true);
  const answered = { role: "assistant" as const, content: "answer 1" };
  await ask([said(url(red)), answered, { role: "user", content: "And its colour?" }]);
  expect(asked[1]).toMatchObject({ follows: { turn: 1 }, messages: [{ content: "And its colour?" }] });
  await ask([said(url(blue)), answered, { role: "user", content: "And its colour?" }]);
  expect(asked[2]?.follows, "another image is another conversation").toBeUndefined();
  const { output_text } = await openai.responses.create({
    model: "policy",
    input: [{ role: "user", content: [{ type: "input_image", image_url: url(blue), detail: "auto" }] }],
  });
  expect(output_text).toBe("answer 4");
  expect(asked[3]?.messages[0]?.images).toMatchObject([
    { sha256: digest(blue), mediaType: "image/jpeg", at: 0 },
  ]);
  expect(JSON.stringify(asked)).not.toContain("base64");
});

test("an image that can't be used, or that the policy does not read, is refused with its field", async () => {
  const refused = async ({ openai }: { openai: OpenAI }, data: string) =>
    openai.chat.completions
      .create({ model: "policy", messages: [said(data)] })
      .catch((error) => [error.status, error.param, error.message]);
  const seeing = await client({ readsImages: true });
  const field = "messages[0].content[1]";
  for (const [data, reason] of [
    ["https://example.com/a.png", "it is not fetched"],
    [url(Buffer.from("no image")), "no image that is known"],
    ["data:image/png;base64,", "no image that is known"],
    ["data:text/plain,hello", "is not fetched"],
  ] as const)
    expect(await refused(seeing, data)).toEqual([400, field, expect.stringContaining(reason)]);
  expect(seeing.asked).toEqual([]);
  await endpoint?.close();
  expect(await refused(await client({ readsImages: false }), url(red))).toEqual([
    400,
    field,
    expect.stringContaining("reads texts alone"),
  ]);
});
