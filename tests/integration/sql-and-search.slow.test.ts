import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageSize } from "image-size";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/contracts/json.ts";
import { everturn, lastLine } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..");
const database = join(root, "pipelines", "chinook-sql", "chinook.sqlite");
const pictures = join(root, "pipelines", "zoom", "images");
const folder = temporaryFolder();
const call = (name: string, given: JsonObject) =>
  `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;

test("a trajectory searches, looks at the schema, is refused a change, queries, and is scored by its result; it zooms into the example's picture, which is kept", async () => {
  const corpus = join(folder, "corpus");
  mkdirSync(corpus);
  writeFileSync(join(corpus, "sabbath.md"), "# Black Sabbath\n\nBlack Sabbath were a band from Birmingham.");
  const tasks = join(folder, "tasks.jsonl");
  const query = "SELECT count(*) FROM Album JOIN Artist USING (ArtistId) WHERE Name = 'Black Sabbath'";
  const task = {
    data_source: "chinook",
    prompt: [{ role: "user", content: "How many albums has the band from Birmingham?" }],
    reward_model: { ground_truth: query },
    images: ["001.png"],
  };
  writeFileSync(tasks, `${JSON.stringify(task)}\n`);
  const dataset = { plugin: "dataset-jsonl", config: { path: tasks } };
  const actions = [
    call("zoom", { bbox_2d: [0.5, 0, 1, 1], label: "right half" }) +
      call("zoom", { bbox_2d: [0, 0, 1, 0.5], image: 2 }) +
      call("zoom", { bbox_2d: [0, 0, 1, 1], image: 4 }),
    call("search", { query: "band from Birmingham" }),
    call("sql", { describe: "Album" }) + call("sql", { query: "DROP TABLE Album" }),
    call("sql", {
      query:
        "SELECT count(AlbumId) AS n FROM Artist LEFT JOIN Album USING (ArtistId) WHERE Name LIKE '%Sabbath'",
    }),
    "It has two.",
  ];
  const pipeline = writeScriptedPipeline(folder, [actions], {
    tools: [
      { plugin: join(root, "plugins", "tool-sql"), config: { database } },
      { plugin: join(root, "plugins", "tool-search"), config: { corpus } },
      { plugin: join(root, "plugins", "tool-image"), functions: ["zoom"], config: { folder: pictures } },
    ],
    dataset: { train: dataset, validation: dataset },
    reward: {
      plugin: join(root, "plugins", "reward-sql-execution"),
      config: { database, query: "last-call" },
    },
    rollout: { batchSize: 1, groupSize: 1, maxActionTokens: 400 },
    evaluation: { every: 0, tasks: 1 },
  });
  const runs = join(folder, "runs");
  const done = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(done.code, done.stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(done.stdout);
  const listed = await everturn("trajectories", run, "--runs", runs, "--json");
  expect(listed.code, listed.stderr).toBe(0);
  const ids = [...listed.stdout.matchAll(/"id":\s*"([^"]+)"/g)].map(([, id]) => id ?? "");
  const media = join(folder, "media");
  const shown = await everturn("show", ids[0] ?? "", "--media", media, "--runs", runs);
  expect(shown.code, shown.stderr).toBe(0);
  for (const text of [
    "Doc 1 (Title: Black Sabbath)",
    "Album(AlbumId INTEGER PRIMARY KEY",
    "DROP is not allowed here",
    "(1 row)",
    "with label right half.",
    "[image 3: ",
    "there are the images 1 to 3",
  ])
    expect(shown.stdout).toContain(text);
  expect(listed.stdout).toMatch(/"reward":\s*1\b/);
  const [whole, half, quarter] = [
    join(pictures, "001.png"),
    ...readdirSync(media)
      .sort()
      .map((name) => join(media, name)),
  ].map((file) => imageSize(readFileSync(file)));
  expect(half).toEqual({ ...whole, width: (whole?.width ?? 0) / 2 });
  expect(quarter).toEqual({ ...half, height: (whole?.height ?? 0) / 2 });
});
