import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TinkerClient } from "../../../packages/tinker/index.ts";
import { jsonServer } from "../../support/json-server.ts";
import { onLoopback } from "../../support/on-loopback.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TinkerServer } from "../../support/tinker-server.ts";

const folder = temporaryFolder();
const path = "tinker://model_1/sampler_weights/step-1";

test("lists checkpoints of every server in one form", async () => {
  const skyrl = {
    checkpoint_id: "a",
    checkpoint_type: "sampler",
    time: "2026-11-28T10:00:00Z",
    tinker_path: path,
  };
  const hatchery = {
    checkpoint_id: "b",
    checkpoint_type: "training",
    time: 1_795_900_000,
    tinker_path: path,
  };
  const { url, asked } = await jsonServer(() => ({
    value: { checkpoints: [skyrl, hatchery], cursor: null },
  }));
  const { checkpoints } = new TinkerClient({ baseUrl: url });
  expect(await checkpoints.list("model 1")).toEqual([
    { id: "a", type: "sampler", path, time: "2026-11-28T10:00:00Z", sizeBytes: undefined },
    { id: "b", type: "training", path, time: "2026-11-28T21:06:40.000Z", sizeBytes: undefined },
  ]);
  await checkpoints.listAll({ limit: 5 });
  expect(asked.map((one) => one.path)).toEqual([
    "/api/v1/training_runs/model%201/checkpoints",
    "/api/v1/checkpoints?limit=5&offset=0",
  ]);
});

test("describes, changes, copies and deletes checkpoints", async () => {
  const { url, asked } = await jsonServer(({ method, path: asking }) => {
    if (asking.endsWith("weights_info"))
      return { value: { base_model: "tiny", is_lora: true, lora_rank: 8 } };
    if (asking.endsWith("copy_weights")) return { value: { tinker_path: "tinker://copy/weights/a" } };
    return method === "DELETE" && asking.endsWith("gone")
      ? { status: 404, value: { detail: "Checkpoint not found: m/gone" } }
      : { value: {} };
  });
  const { checkpoints } = new TinkerClient({ baseUrl: url });
  expect(await checkpoints.info(path)).toEqual({ baseModel: "tiny", isLora: true, loraRank: 8 });
  await checkpoints.publish(path);
  await checkpoints.unpublish(path);
  await checkpoints.setTtl(path, undefined);
  await checkpoints.delete("tinker://m/weights/gone");
  await checkpoints.delete("tinker://mdl/checkpoints/a");
  const copy = { destinationProjectId: "p", weightsAccessToken: "secret" };
  expect(await checkpoints.copy(path, copy)).toBe("tinker://copy/weights/a");
  const run = "/api/v1/training_runs/model_1/checkpoints/sampler_weights/step-1";
  expect(asked.slice(1).map((one) => `${one.method} ${one.path}`)).toEqual([
    `POST ${run}/publish`,
    `DELETE ${run}/publish`,
    `PUT ${run}/ttl`,
    "DELETE /api/v1/training_runs/m/checkpoints/weights/gone",
    "DELETE /api/v1/training_runs/mdl/checkpoints/a",
    "POST /api/v1/copy_weights",
  ]);
  expect(asked.at(-1)!.headers).toMatchObject({ "x-tinker-weights-access-token": "secret" });
  await expect(checkpoints.publish("weights/step-1")).rejects.toThrow("is not a path like tinker://");
});

test("downloads an archive through a redirection, without sending the key elsewhere", async () => {
  const archive = Buffer.alloc(300_000, "adapter");
  const keys: (string | string[] | undefined)[] = [];
  const store = await onLoopback(
    createServer((request, response) => {
      keys.push(request.headers["x-api-key"]);
      response.writeHead(200, { "content-length": archive.length }).end(archive);
    }),
  );
  const url = await onLoopback(
    createServer(({ url: asked, headers }, response) => {
      keys.push(headers["x-api-key"]);
      // SkyRL knows the address with the name alone.
      const isShort = asked === "/api/v1/training_runs/model_1/checkpoints/step-1/archive";
      if (isShort) response.writeHead(302, { location: `${store}/signed` }).end();
      else
        response
          .writeHead(405, { "content-type": "application/json" })
          .end('{"detail":"Method Not Allowed"}');
    }),
  );
  const file = join(folder, "adapter.tar.gz");
  const { checkpoints } = new TinkerClient({ baseUrl: url, apiKey: "tml-key" });
  // The path of weights for sampling, as SkyRL answers it.
  expect(await checkpoints.download("tinker://model_1/step-1", file)).toBe(archive.length);
  expect(readFileSync(file)).toEqual(archive);
  expect(keys).toEqual(["tml-key", "tml-key", undefined]);
});

test("a download that breaks off, or that is on the server's disk, leaves no file", async () => {
  const broken = await onLoopback(
    createServer((_, response) => {
      response.writeHead(200, { "content-length": 100 }).write("half");
      setTimeout(() => response.destroy(), 20);
    }),
  );
  const file = join(folder, "broken.tar.gz");
  const cut = new TinkerClient({ baseUrl: broken }).checkpoints.download(path, file);
  await expect(cut).rejects.toMatchObject({ code: "connection" });
  const tuft = await onLoopback(
    createServer((_, response) =>
      response.writeHead(302, { location: "file:///srv/checkpoints/step-1" }).end(),
    ),
  );
  const local = new TinkerClient({ baseUrl: tuft }).checkpoints.download(path, file);
  await expect(local).rejects.toMatchObject({
    code: "not-supported",
    detail: "file:///srv/checkpoints/step-1",
  });
  expect([existsSync(file), existsSync(`${file}.partial`)]).toEqual([false, false]);
});

test("weights for download are saved under a name, and each file has an address", async () => {
  const files = new Map([["adapter_config.json", Buffer.from("{}")]]);
  const server = await new TinkerServer({ numbering: "skyrl", files }).start();
  onTestFinished(() => server.stop());
  const client = new TinkerClient({ baseUrl: server.url });
  const session = await client.createSession();
  const model = await session.createModel({ baseModel: "tiny", lora: { rank: 2 } });
  const saved = await model.saveWeightsExternal("final", { ttlSeconds: 3600 });
  session.close();
  expect(saved.path).toBe(`tinker://${model.modelId}/external_weights/final`);
  const urls = await client.checkpoints.externalUrls(saved.path);
  expect(Object.keys(urls)).toEqual(["adapter_config.json"]);
  expect(await (await fetch(urls["adapter_config.json"]!)).text()).toBe("{}");
});
