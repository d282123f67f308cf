import { describe, expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { checkedResponse } from "../../../../src/plugin/host/checked-response.ts";
import { gif, jpeg, png, webp } from "../../../support/images.ts";

const answered = (given: unknown) => checkedResponse("tool-look", given);

test("texts, JSON, images and videos are told in order, each image and video by a note with its number, size and kind", () => {
  const answer = answered({
    text: "seen:",
    content: [
      { type: "image", data: png(640, 480) },
      { type: "json", value: { b: [1, "two"], a: null } },
      { type: "video", frames: [jpeg(320, 200), jpeg(320, 200)], framesPerSecond: 2 },
      { type: "image", data: Buffer.from(webp(7, 5)).toString("base64"), mimeType: "image/webp" },
      { type: "text", text: "end" },
    ],
  });
  expect(answer.text).toBe(
    'seen:\n[image 1: 640×480 png]\n{"b":[1,"two"],"a":null}\n[video 1: 2 frames, 320×200 jpeg]\n[image 2: 7×5 webp]\nend',
  );
  expect(answer.media?.map(({ type, frames }) => [type, frames.length])).toEqual([
    ["image", 1],
    ["video", 2],
    ["image", 1],
  ]);
  expect(answer.media?.[1]).toMatchObject({ framesPerSecond: 2 });
  expect(answer.media?.[0]?.frames[0]).toEqual({
    data: png(640, 480),
    mediaType: "image/png",
    width: 640,
    height: 480,
  });
});

describe("the kind of an image", () => {
  const image = (data: unknown, mediaType?: string) =>
    answered({ content: [defined<object>({ type: "image", data, mediaType })] }).text;

  test("is that of its header, whatever is declared", () => {
    expect(image(gif(3, 4), "image/png")).toBe("[image 1: 3×4 gif]");
    expect(image(Buffer.from('<svg width="9" height="8"/>'))).toBe("[image 1: 9×8 svg]");
  });

  test("is the declared one if the header does not tell", () => {
    expect(image(new Uint8Array([1, 2, 3]), "image/x-own")).toBe("[image 1: x-own]");
    expect(image(png(3, 4).subarray(0, 12), "image/png"), "cut within its header").toBe("[image 1: png]");
  });
});

test("a part's name stands in its note, in one line and without brackets", () => {
  const named = (name: unknown) => answered({ content: [{ type: "image", data: gif(3, 4), name }] }).text;
  expect(named("image 7")).toBe("[image 7: 3×4 gif]");
  const [seen] = answered({ content: [{ type: "image", data: gif(3, 4), name: "image 7" }] }).media ?? [];
  expect(seen).toMatchObject({ type: "image", name: "image 7" });
  for (const name of ["", "a]", "a\nb", "a\u2028b", "x".repeat(101), 7])
    expect(() => named(name)).toThrow("“content[0].name” must be a text in one line");
});

test("bytes cross as a copy of their own, not with the buffer that they lie in", () => {
  const large = new Uint8Array(100_000);
  large.set(png(2, 2), 500);
  const { media } = answered({
    content: [{ type: "image", data: large.subarray(500, 500 + png(2, 2).length) }],
  });
  expect(media?.[0]?.frames[0]?.data.buffer.byteLength).toBe(png(2, 2).length);
});

test("a call that may not be made is told to the model with the reason, and an end is told", () => {
  expect(answered({ invalid: "the cell is taken" })).toEqual({
    text: "error: the cell is taken",
    invalid: "the cell is taken",
  });
  expect(answered({ text: "X wins", done: true, reward: 1 })).toEqual({
    text: "X wins",
    done: true,
    reward: 1,
  });
  expect(answered({ text: "go on", done: false })).toEqual({ text: "go on" });
});

test.for([
  [{ content: "a page", title: "t" }, '{"content":"a page","title":"t"}'],
  [{ content: [{ row: 1 }] }, '{"content":[{"row":1}]}'],
  [{ id: 3, invalid: "no" }, '{"id":3,"invalid":"no"}'],
  [{ done: true }, '{"done":true}'],
] as const)("an object that only has some of these words is told as JSON: %j", ([given, text]) => {
  expect(answered(given)).toEqual({ text });
});

test.for([
  [{ content: [{ type: "audio", data: "" }] }, "“content[0].type” must be text, json, image or video"],
  [{ text: "", content: "x" }, "“content” must be a list of parts"],
  [{ content: [{ type: "image", data: "no base64!" }] }, "“content[0].data” must be the bytes of an image"],
  [{ content: [{ type: "image", data: new Uint8Array([1]) }] }, "set mediaType, for example image/png"],
  [{ content: [{ type: "image", data: png(1, 1), mediaType: "text/html" }] }, "“content[0].mediaType”"],
  [{ content: [{ type: "video", frames: [] }] }, "“content[0].frames” must be a list of images"],
  [{ content: [{ type: "json", value: 1n }] }, "“content[0].value” must be a value that JSON can hold"],
  [{ text: "", done: "yes" }, "“done” must be true or false"],
  [{ text: "", invalid: true }, "“invalid” must be the reason, as text"],
] as const)("what is no part is named: %#", ([given, said]) => {
  expect(() => answered(given)).toThrow(said);
});
