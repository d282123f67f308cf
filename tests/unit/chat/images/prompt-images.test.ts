import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { promptMessages, withImagesOf } from "../../../../src/chat/images/message-images.ts";
import type { Task } from "../../../../src/contracts/generated/task.ts";
import type { Message } from "../../../../src/contracts/message.ts";
import type { RecordedCall } from "../../../../src/contracts/recorded-call.ts";
import { parseTasks } from "../../../../src/plan/tasks/parse-tasks.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const solid = { create: { width: 6, height: 4, channels: 3 as const, background: "red" } };
const picture = await sharp(solid).png().toBuffer();
const photo = await sharp(solid).resize(5, 5).jpeg().toBuffer();
writeFileSync(join(folder, "a.png"), picture);
writeFileSync(join(folder, "b.jpg"), photo);
writeFileSync(join(folder, "c.png"), "no image");

const digest = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
const keep = async (data: Uint8Array) => digest(data);
const row = (content: unknown, more: object = {}) =>
  JSON.stringify({
    data_source: "d",
    prompt: [{ role: "user", content }],
    reward_model: { ground_truth: "1" },
    ...more,
  });
const task = (content: unknown, more?: object): Task => parseTasks(row(content, more), "rows.jsonl")[0]!;

test("images stand where a prompt shows them, and are told by their content", async () => {
  const images = ["a.png", { path: "b.jpg" }];
  const [message] = await promptMessages(
    task("<image>Which is it, this\n<image>?", { images }),
    folder,
    keep,
  );
  expect(message).toEqual({
    role: "user",
    content: "Which is it, this\n?",
    images: [
      { sha256: digest(picture), mediaType: "image/png", width: 6, height: 4, at: 0 },
      { sha256: digest(photo), mediaType: "image/jpeg", width: 5, height: 5, at: 18 },
    ],
  });
  const inline = { images: [{ bytes: picture.toString("base64") }] };
  expect(await promptMessages(task("<image>", inline), undefined, keep)).toMatchObject([
    { content: "", images: [{ sha256: digest(picture), at: 0 }] },
  ]);
});

test("images that no prompt shows are its tools' alone, and <image> without images is text", async () => {
  for (const one of [
    task("How wide is it?", { images: ["gone.png"] }),
    task("What does <image> do in HTML?"),
  ])
    expect(await promptMessages(one, folder, keep)).toEqual(one.prompt);
});

test("content parts of OpenAI are rows in verl's form", async () => {
  const url = `data:image/png;base64,${picture.toString("base64")}`;
  const parts = [
    { type: "text", text: "This " },
    { type: "image_url", image_url: { url, detail: "low" } },
    { type: "image", image: "b.jpg" },
    { type: "input_text", text: " or that?" },
  ];
  expect(task(parts)).toMatchObject({
    prompt: [{ role: "user", content: "This <image><image> or that?" }],
    images: [url, "b.jpg"],
  });
  expect(await promptMessages(task(parts), folder, keep)).toMatchObject([
    { content: "This  or that?", images: [{ at: 5 }, { at: 5, mediaType: "image/jpeg" }] },
  ]);
  expect(task([{ type: "image" }, { type: "text", text: "?" }], { images: ["a.png"] })).toMatchObject({
    prompt: [{ content: "<image>?" }],
    images: ["a.png"],
  });
  expect(task([{ type: "text", text: "only text" }]).prompt).toEqual([
    { role: "user", content: "only text" },
  ]);
  for (const wrong of [[{ type: "input_audio" }], [{ type: "text", text: 1 }], ["text"], { type: "image" }])
    expect(() => task(wrong)).toThrow(/prompt\[0\].content/);
});

test("what can't be shown is told by the image and the reason", async () => {
  const shown = (content: string, ...images: unknown[]) =>
    promptMessages(task(content, { images }), folder, keep);
  await expect(shown("<image><image>", "a.png")).rejects.toThrow(
    "its prompt has <image> 2 times, and its images are 1",
  );
  await expect(shown("<image><image>", "a.png", "c.png")).rejects.toThrow(
    "image 2 can't be used: it is no image that is known",
  );
  await expect(shown("<image>", "gone.png")).rejects.toThrow("image 1 can't be used: ENOENT");
  await expect(shown("<image>", "../a.png")).rejects.toThrow(
    /image 1 can't be used: (ENOENT|.*is not below)/,
  );
  await expect(shown("<image>", "https://example.com/a.png")).rejects.toThrow("is not fetched");
  await expect(shown("<image>", { bytes: "" })).rejects.toThrow("no image that is known");
  await expect(shown("<image>", 7)).rejects.toThrow("it must be a path");
  await expect(promptMessages(task("<image>", { images: ["a.png"] }), undefined, keep)).rejects.toThrow(
    "nothing says the folder",
  );
});

test("a video that a prompt shows is refused, and one for tools alone is not", async () => {
  const refused = "its prompt shows a video, and policies read only images: show frames of it instead";
  const videos = { videos: ["a.mp4"] };
  await expect(promptMessages(task("<video>What happens?", videos), folder, keep)).rejects.toThrow(refused);
  for (const part of [
    { type: "video", video: "a.mp4" },
    { type: "video_url", video_url: { url: "a.mp4" } },
  ]) {
    const shown = task([part, { type: "text", text: "?" }]);
    await expect(promptMessages(shown, folder, keep)).rejects.toThrow(refused);
  }
  const forTools = task("What happens?", videos);
  expect(await promptMessages(forTools, folder, keep)).toEqual(forTools.prompt);
});

test("messages of tools have the images of the calls that they answer", () => {
  const frame = (sha256: string, mediaType = "image/png") => ({
    sha256,
    mediaType,
    bytes: 1,
    width: 6,
    height: 4,
  });
  const call = (observation: string, ...frames: ReturnType<typeof frame>[]): RecordedCall =>
    defined({
      tool: "zoom",
      arguments: {},
      observation,
      valid: true,
      reward: 0,
      attempts: 1,
      seconds: 0,
      media: frames.length === 0 ? undefined : [{ type: "image" as const, frames }],
    });
  const said = (content: string, name = "zoom"): Message => ({ role: "tool", name, content });
  const messages = [
    said("same"),
    said("none"),
    said("same"),
    said("lo\n[3 characters cut]"),
    said("same", "crop"),
  ];
  const calls = [
    call("same", frame("1")),
    call("none"),
    call("same", frame("2"), frame("3", "image/svg+xml")),
    call("long", frame("4")),
  ];
  expect(withImagesOf(messages, calls).map(({ images = [] }) => images.map(({ sha256 }) => sha256))).toEqual([
    ["1"],
    [],
    ["2"],
    ["4"],
    [],
  ]);
});
