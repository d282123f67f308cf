import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonObject, Task, ToolResponse } from "everturn/plugin";
import { pluginChecks } from "everturn/testing";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { secondsOf } from "../../../plugins/tool-image/frames.ts";
import imageTool from "../../../plugins/tool-image/index.ts";
import { cropRegion, zoomRegion } from "../../../plugins/tool-image/region.ts";
import { ffmpegHere } from "../../support/ffmpeg.ts";
import { jpeg, png } from "../../support/images.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const config = { folder, minimum: 28, side: 200, images: 4, pixels: 100_000, bytes: 100_000, time: 120 };
const { signal } = new AbortController();

/** Red, green / blue, white. */
const corners = sharp(await fourColours(60, 40));
const plain = await corners.clone().png().toBuffer();

async function fourColours(width: number, height: number): Promise<Buffer> {
  const pixels = ["#f00", "#0f0", "#00f", "#fff"].map((background) => ({
    input: { create: { width: width / 2, height: height / 2, channels: 3 as const, background } },
  }));
  const places = [0, 1, 2, 3].map((n) => ({
    left: (n % 2) * (width / 2),
    top: Math.floor(n / 2) * (height / 2),
  }));
  const black = { create: { width, height, channels: 3 as const, background: "black" } };
  return sharp(black)
    .composite(pixels.map((one, n) => ({ ...one, ...places[n] })))
    .removeAlpha()
    .png()
    .toBuffer();
}

/** What the calls of one trajectory answer, `[function, arguments]` each; the task has these columns. */
async function called(columns: Partial<Task>, ...calls: [string, JsonObject][]): Promise<ToolResponse[]> {
  const task: Task = { data_source: "d", prompt: [], reward_model: { ground_truth: "" }, ...columns };
  const state = await imageTool.create?.({ instance: "i", task, config, environment: {}, signal, hold() {} });
  if (state === undefined) throw new Error("there is no instance");
  const answers: ToolResponse[] = [];
  for (const [name, given] of calls) {
    const execution = {
      instance: "i",
      function: name,
      key: "k",
      attempt: 1,
      config,
      signal,
      isReplay: false,
    };
    answers.push(await imageTool.execute(given, execution, state));
  }
  return answers;
}

/** The image of an answer: its size, its kind, and the names of the colours in its corners. */
async function seen({ content: [part] = [] }: ToolResponse): Promise<string> {
  if (part?.type !== "image") throw new Error("it has no image");
  const { data, info } = await sharp(part.data).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const colour = (x: number, y: number) => {
    const [red = 0, green = 0, blue = 0] = data.subarray((y * info.width + x) * 3);
    return ["black", "blue", "green", "cyan", "red", "pink", "yellow", "white"][
      (red > 127 ? 4 : 0) + (green > 127 ? 2 : 0) + (blue > 127 ? 1 : 0)
    ];
  };
  const [right, bottom] = [info.width - 1, info.height - 1];
  const { format } = await sharp(part.data).metadata();
  return `${info.width}×${info.height} ${format}: ${colour(0, 0)}, ${colour(right, 0)} / ${colour(0, bottom)}, ${colour(right, bottom)}`;
}

describe("a region", () => {
  const size = { width: 400, height: 300 };

  // What verl's ImageZoomInTool makes of the same boxes, as [x1, y1, x2, y2].
  test.each([
    [
      [10, 20, 110, 120],
      [10, 20, 110, 120],
    ],
    [
      [10, 20, 20, 30],
      [1, 11, 29, 39],
    ],
    [
      [0, 0, 5, 40],
      [0, 0, 28, 224],
    ],
    [
      [395, 295, 400, 300],
      [372, 272, 400, 300],
    ],
    [
      [-50, -50, 1000, 1000],
      [0, 0, 400, 300],
    ],
    [
      [100, 100, 110, 103],
      [58, 87, 152, 116],
    ],
  ])("%j is zoomed to as verl does", (bbox, expected) => {
    const { left, top, width, height } = zoomRegion(bbox, size, 28);
    expect([left, top, left + width, top + height]).toEqual(expected);
  });

  test.each([
    [[0, 0, 400, 3], "more than 100 times"],
    [[0, 0, 400, 5], "can't be grown"],
    [[3, 3, 9, 300], "can't be grown"],
    [[30, 10, 10, 40], "has nothing of the image, which is 400×300"],
    [[500, 500, 600, 600], "has nothing of the image"],
    [[1e308, 0, -1e308, 1], "has nothing of the image"],
  ])("%j is refused, as verl does", (bbox, reason) => {
    expect(() => zoomRegion(bbox, size, 28)).toThrow(reason);
  });

  test("is in parts of the image where no number is above 1, and is cropped as small as it is", () => {
    expect(zoomRegion([0, 0, 1, 1], size, 28)).toEqual({ left: 0, top: 0, ...size });
    expect(cropRegion([0.5, 0.5, 1, 1], size)).toEqual({ left: 200, top: 150, width: 200, height: 150 });
    expect(cropRegion([7.5, 7.5, 8.5, 8], size)).toEqual({ left: 7, top: 7, width: 2, height: 1 });
    expect(() => cropRegion([0, 0, 0, 0], size)).toThrow("has nothing");
  });
});

test("each function makes an image of its own, which later calls name", async () => {
  const uri = `data:image/png;base64,${plain.toString("base64")}`;
  const [zoomed, again, flipped] = await called(
    { images: [uri] },
    ["zoom", { bbox_2d: [30, 0, 60, 40], label: "sign" }],
    ["crop", { bbox_2d: [0, 0, 1, 0.5], image: 2 }],
    ["flip", { direction: "vertical" }],
  );
  expect(zoomed?.text).toBe("Zoomed in on image 1 to the region [30, 0, 60, 40] with label sign.");
  expect(zoomed?.content).toEqual([{ type: "image", name: "image 2", data: expect.any(Uint8Array) }]);
  expect(await Promise.all([zoomed, again, flipped].map((one) => seen(one ?? {})))).toEqual([
    "30×40 png: green, green / white, white",
    "30×20 png: green, green / green, green",
    "60×40 png: blue, white / red, green",
  ]);
  const [turned, back, slant, smaller] = await called(
    { images: [uri] },
    ["rotate", { angle: 90 }],
    ["rotate", { angle: -90, image: 2 }],
    ["rotate", { angle: 45 }],
    ["resize", { height: 20 }],
  );
  expect(await Promise.all([turned, back, slant, smaller].map((one) => seen(one ?? {})))).toEqual([
    "40×60 png: blue, red / white, green",
    "60×40 png: red, green / blue, white",
    expect.stringMatching(/^7\d×7\d png: black, black \/ black, black$/),
    "30×20 png: red, green / blue, white",
  ]);
});

test("what the model got wrong is told to it, and makes no image", async () => {
  const answers = await called(
    { images: [{ bytes: plain.toString("base64") }] },
    ["zoom", { bbox_2d: [9, 9, 3, 3] }],
    ["flip", { direction: "horizontal", image: 2 }],
    ["resize", {}],
    ["resize", { width: 201 }],
    ["frames", {}],
    ["crop", { bbox_2d: [0, 0, 1, 1] }],
    ["crop", { bbox_2d: [0, 0, 1, 1], image: 2 }],
    ["crop", { bbox_2d: [0, 0, 1, 1] }],
    ["crop", { bbox_2d: [0, 0, 1, 1] }],
    ["crop", { bbox_2d: [0, 0, 1, 1] }],
  );
  expect(answers.map(({ text, error }) => error && text)).toEqual([
    expect.stringContaining("error: the box [9, 9, 3, 3] has nothing of the image"),
    "error: there is no image 2: there is only image 1.",
    "error: give width, height, or both.",
    "error: image 1 would have 201×134 pixels; no side may have more than 200.",
    "error: there is no video 1: there are 0.",
    undefined,
    undefined,
    undefined,
    undefined,
    "error: no more than 4 images may be made, and 4 were.",
  ]);
  const [none] = await called({}, ["zoom", { bbox_2d: [0, 0, 1, 1] }]);
  expect(none).toEqual({ text: "error: there is no image 1: there is none.", error: true });
});

test("images of all kinds are read upright, the first frame of an animation, in 8 bits of sRGB", async () => {
  const kinds = {
    exif: await corners.clone().rotate(-90).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer(),
    cmyk: await corners.clone().toColourspace("cmyk").jpeg({ quality: 95 }).toBuffer(),
    deep: await corners.clone().toColourspace("rgb16").png().toBuffer(),
    grey: await corners.clone().toColourspace("b-w").png().toBuffer(),
    avif: await corners.clone().avif({ quality: 90 }).toBuffer(),
    tiff: await corners.clone().tiff().toBuffer(),
    alpha: await corners.clone().ensureAlpha(0.9).webp({ lossless: true }).toBuffer(),
    animation: await sharp([plain, await corners.clone().negate().png().toBuffer()], {
      join: { animated: true },
    })
      .gif()
      .toBuffer(),
  };
  const read: Record<string, string> = {};
  for (const [kind, bytes] of Object.entries(kinds)) {
    const images = { bytes: bytes.toString("base64") };
    const [answer = {}] = await called({ images }, ["crop", { bbox_2d: [0, 0, 1, 1] }]);
    read[kind] = await seen(answer);
  }
  const colours = "red, green / blue, white";
  expect(read).toEqual({
    exif: `60×40 jpeg: ${colours}`,
    cmyk: expect.stringMatching(/^60×40 jpeg: red, .+ \/ blue, white$/),
    deep: `60×40 png: ${colours}`,
    grey: expect.stringMatching(/^60×40 png: black, /),
    avif: `60×40 jpeg: ${colours}`,
    tiff: `60×40 png: ${colours}`,
    alpha: `60×40 png: ${colours}`,
    animation: `60×40 png: ${colours}`,
  });
});

test("a large image's part is scaled down to what a side may have", async () => {
  const large = await fourColours(500, 100);
  const [zoomed, turned] = await called(
    { images: [{ bytes: large.toString("base64") }] },
    ["zoom", { bbox_2d: [0, 0, 500, 50] }],
    ["rotate", { angle: 90 }],
  );
  expect(await seen(zoomed ?? {})).toBe("200×20 png: red, green / red, green");
  expect(await seen(turned ?? {})).toBe("40×200 png: blue, red / white, green");
});

describe("an image of a task that can't be used is the task's failure, with its reason", async () => {
  const bytes = (data: Uint8Array | string) => ({ bytes: Buffer.from(data).toString("base64") });
  const bomb = await sharp({ create: { width: 2000, height: 1000, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const photo = corners.clone().resize(300, 200).jpeg();

  test.each<[string, unknown, RegExp]>([
    ["more pixels than may be", bytes(bomb), /Input image has more than 100000 pixels/],
    ["a header that lies", bytes(png(1, 1)), /image 1 can't be used: /],
    ["a header alone", bytes(jpeg(40, 30)), /image 1 can't be used: /],
    ["nothing", bytes(""), /image 1 can't be used: /],
    ["a text", bytes("no image at all"), /unsupported image format/],
    [
      "SVG",
      bytes('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      /unsupported image format/,
    ],
    ["PDF", bytes("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj"), /unsupported image format/],
    ["PPM", bytes("P3 1 1 255 1 2 3"), /unsupported image format/],
    ["an address", "http://127.0.0.1:1/a.png", /is not fetched: only files and data: URLs/],
    ["no form", { id: 7 }, /must be a path, a data: URL/],
    ["too many bytes", bytes(new Uint8Array(100_001)), /has 100001 bytes, and may have 100000/],
    ["a path out of the folder", "../secret.png", /image 1 can't be used: /],
    ["a path elsewhere", "/etc/hostname", /is not below/],
    ["a link out of the folder", "link.png", /link.png is not below/],
    ["a folder", "inner", /inner is not a file/],
    ["nowhere", "nowhere.png", /ENOENT/],
  ])("%s", async (_, given, reason) => {
    mkdirSync(join(folder, "inner"), { recursive: true });
    try {
      symlinkSync("/etc/hostname", join(folder, "link.png"));
    } catch {
      // it is there from the case before
    }
    await expect(called({ images: [given] }, ["rotate", { angle: 90 }])).rejects.toThrow(reason);
  });

  test("one that is cut off, once it is decoded", async () => {
    for (const whole of [await photo.toBuffer(), await fourColours(300, 200)]) {
      const half = bytes(whole.subarray(0, Math.floor(whole.length * 0.6)));
      await expect(called({ images: [half] }, ["rotate", { angle: 90 }])).rejects.toThrow(
        "image 1 can't be used: ",
      );
    }
  });

  test("others of the task are not touched by it, nor is the next call", async () => {
    const images = [bytes("no image"), bytes(plain)];
    const [answer = {}] = await called({ images }, ["crop", { bbox_2d: [0, 0, 1, 1], image: 2 }]);
    expect(await seen(answer)).toContain("60×40 png");
  });
});

test("images lie below the folder, by path, file: URL or digest, or where verl's tool is given one", async () => {
  const sha256 = createHash("sha256").update(plain).digest("hex");
  mkdirSync(join(folder, sha256.slice(0, 2)), { recursive: true });
  writeFileSync(join(folder, sha256.slice(0, 2), `${sha256}.bin`), plain);
  writeFileSync(join(folder, "a.png"), plain);
  const url = pathToFileURL(join(folder, "a.png")).href;
  const images = [
    "a.png",
    join(folder, "a.png"),
    { bytes: null, path: "a.png" },
    { url },
    { image: url },
    { sha256 },
  ];
  const tools_kwargs = { image_zoom_in_tool: { create_kwargs: { image: url } } };
  for (const columns of [...images.map((one) => ({ images: [one] })), { extra_info: { tools_kwargs } }]) {
    const [answer = {}] = await called(columns, ["crop", { bbox_2d: [0, 0, 1, 1] }]);
    expect(await seen(answer)).toContain("60×40 png");
  }
  writeFileSync(join(folder, sha256.slice(0, 2), `${sha256}.bin`), "another");
  const other = called({ images: [{ sha256 }] }, ["crop", { bbox_2d: [0, 0, 1, 1] }]);
  await expect(other).rejects.toThrow("another content than its digest says");
});

test("the example's answers are the sizes of what the tool makes", async () => {
  const example = join(import.meta.dirname, "..", "..", "..", "pipelines", "zoom");
  const boxes: Record<string, number[]> = {
    "left half": [0, 0, 0.5, 1],
    "lower half": [0, 0.5, 1, 1],
    middle: [0.25, 0.25, 0.75, 0.75],
  };
  const rows = readFileSync(join(example, "held-out.jsonl"), "utf8").trim().split("\n").slice(0, 12);
  let tried = 0;
  for (const row of rows) {
    const { images, prompt, reward_model } = JSON.parse(row);
    const [, asked, part = ""] = /How (wide|high) is the (.+) of/.exec(prompt[0].content) ?? [];
    if (boxes[part] === undefined) continue;
    tried += 1;
    const bytes = readFileSync(join(example, "images", images[0])).toString("base64");
    const [answer = {}] = await called({ images: [{ bytes }] }, ["zoom", { bbox_2d: boxes[part] }]);
    const [width, height] = (await seen(answer)).split(/[× ]/);
    expect(asked === "wide" ? width : height, row).toBe(reward_model.ground_truth);
  }
  expect(tried).toBeGreaterThan(3);
});

test("the moments of a video are in the middle of equal shares", () => {
  expect(secondsOf({ count: 2, from: 0, to: Number.POSITIVE_INFINITY }, 3)).toEqual([0.75, 2.25]);
  expect(secondsOf({ count: 1, from: 1, to: 2 }, 3)).toEqual([1.5]);
  expect(() => secondsOf({ count: 1, from: 3, to: 9 }, 3)).toThrow("before the end of the video, at 3 s");
});

describe.skipIf(!(await ffmpegHere()))("a video", () => {
  test("gives frames as images, and nothing of another file", async () => {
    const source = ["-f", "lavfi", "-i", "color=red:size=64x48:rate=10:duration=2"];
    execFileSync("ffmpeg", ["-loglevel", "error", "-y", ...source, join(folder, "red.mp4")]);
    const list = "ffconcat version 1.0\nfile red.mp4\n";
    writeFileSync(join(folder, "list.mp4"), list);
    writeFileSync(join(folder, "list.m3u8"), "#EXTM3U\n#EXTINF:2,\nred.mp4\n#EXT-X-ENDLIST\n");
    const videos = ["red.mp4", "list.mp4", "list.m3u8", { video: "nowhere.mp4" }];
    const [frames = {}, one = {}, late] = await called(
      { videos },
      ["frames", { count: 2 }],
      ["crop", { bbox_2d: [0, 0, 0.5, 0.5], image: 2 }],
      ["frames", { count: 1, from: 2.5 }],
    );
    expect(frames.text).toBe("Frames of video 1 at 0.5 s, 1.5 s:");
    expect(frames.content).toMatchObject([{ name: "image 1" }, { name: "image 2" }]);
    expect(await seen(frames)).toBe("64×48 jpeg: red, red / red, red");
    expect(await seen(one)).toContain("32×24 jpeg");
    expect(late).toMatchObject({ error: true, text: expect.stringContaining("at 2 s") });
    for (const video of [2, 3, 4])
      await expect(called({ videos }, ["frames", { video }])).rejects.toThrow(
        `video ${video} can't be used: `,
      );
  });

  test("says what is missing where there is no ffmpeg", async () => {
    const { PATH } = process.env;
    process.env.PATH = folder;
    const asked = called({ videos: ["red.mp4"] }, ["frames", {}]);
    await expect(asked).rejects.toThrow("frames needs the program ffmpeg on PATH");
    process.env.PATH = PATH;
  });
});

test("keeps its promises of answers and of state", async () => {
  const checks = await pluginChecks("tool-image", {
    config: { side: 100 },
    task: { images: [`data:image/png;base64,${plain.toString("base64")}`] },
    cases: [
      {
        function: "zoom",
        arguments: { bbox_2d: [0, 0, 1, 1] },
        text: "Zoomed in on image 1 to the region [0, 0, 60, 40].\n[image 2: 60×40 png]",
      },
      {
        function: "rotate",
        arguments: { angle: 90, image: 2 },
        text: "Rotated image 2 by 90° clockwise.\n[image 3: 40×60 png]",
      },
      { function: "crop", arguments: { bbox_2d: [9, 9, 3, 3] }, error: true },
    ],
  });
  const some = ["manifest", "loading", "answers", "replay"]; // all of them: npm run plugin-table
  const kept = checks.filter(({ promise }) => some.includes(promise));
  for (const check of kept) await check.run();
  expect(kept.map(({ promise }) => promise)).toEqual(some);
});
