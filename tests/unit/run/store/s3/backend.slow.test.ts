import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterAll, afterEach, describe, expect, onTestFinished, test } from "vitest";
import { newAttempt } from "../../../../../src/base/files/temporary-name.ts";
import { createUniformStream } from "../../../../../src/base/random/uniform-stream.ts";
import { keyOf, treeKeyOf } from "../../../../../src/run/store/key.ts";
import { openStore } from "../../../../../src/run/store/open-store.ts";
import { s3Backend } from "../../../../../src/run/store/s3/backend.ts";
import { s3Place } from "../../../../../src/run/store/s3/place.ts";
import { checkS3Place } from "../../../../../src/run/store/s3/preflight.ts";
import { startS3Proxy, type Trouble } from "../../../../support/s3-proxy.ts";
import { ownerClient, seaweedHere, startS3Server } from "../../../../support/s3-server.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const weed = await seaweedHere();

describe.skipIf(weed === undefined)("objects on an S3 server", async () => {
  if (weed === undefined) return;
  const folder = temporaryFolder();
  const server = await startS3Server(weed, join(folder, "s3"));
  const client = ownerClient(server.url);
  Object.assign(process.env, server.env);
  afterEach(() => void Object.assign(process.env, server.env));
  afterAll(() => server.kill());

  /** From now on this test talks to the server through a proxy. */
  async function through(troubleOf: () => Trouble) {
    const proxy = await startS3Proxy(server.port, troubleOf);
    onTestFinished(proxy.stop);
    process.env.AWS_ENDPOINT_URL_S3 = proxy.url;
    return proxy;
  }

  test("a file of several parts comes back whole", async () => {
    const store = openStore(s3Backend(s3Place("s3://runs/parts")), () => {});
    const key = treeKeyOf<string>("initial");
    const weights = Buffer.alloc(50_000_000);
    for (let at = 0; at < weights.length; at += 4) weights.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
    const tree = await store.tree(
      key,
      async (local) => writeFileSync(join(local, "weights"), weights),
      () => "",
    );
    expect(tree.files.weights).toEqual({ size: weights.length, sha256: hash("sha256", weights) });
    const read = await store.inFolder(key, tree, "", async (local) => readFileSync(join(local, "weights")));
    expect(read?.result.equals(weights)).toBe(true);
    expect(await uploadsBelow("parts/")).toEqual([]);
  });

  test("a sweep aborts the uploads of processes that ended, and no others", async () => {
    const backend = s3Backend(s3Place("s3://runs/left"));
    const alive = `left/steps/1/trained/${newAttempt()}/policy/weights`;
    const dead = alive.replace(/\.\d+\./, ".4194000."); // no such process
    for (const Key of [alive, dead, "other/steps/1/trained/a/weights"]) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: "runs", Key }));
      const part = { Bucket: "runs", Key, UploadId, PartNumber: 1, Body: Buffer.alloc(1000) };
      await client.send(new UploadPartCommand(part));
    }
    expect(await backend.sweep()).toBe(1);
    expect(await uploadsBelow("left/")).toEqual([alive]);
    expect(await backend.sweep()).toBe(0);
  });

  test("the preflight accepts the server and leaves nothing", async () => {
    const place = s3Place("s3://runs/preflight/deep");
    await checkS3Place(place);
    expect(await s3Backend(place).page("")).toEqual({ paths: [] });
  });

  test("the preflight refuses a server that ignores conditions, and leaves nothing", async () => {
    await through(() => "ignore-conditions");
    const place = s3Place("s3://runs/ignorant");
    await expect(checkS3Place(place)).rejects.toMatchObject({ code: "STORE_WITHOUT_CONDITIONS" });
    expect(await s3Backend(place).page("")).toEqual({ paths: [] });
  });

  test("the preflight refuses a bucket that does not exist", async () => {
    const refused = checkS3Place(s3Place("s3://nowhere/runs"));
    await expect(refused).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringMatching(/s3:\/\/nowhere\/runs .*NoSuchBucket.*create the bucket/),
    });
  });

  test("what a troubled server did is not done twice, and nothing is lost", async () => {
    const random = createUniformStream({ seed: 7, trajectory: "proxy", turn: 0 });
    const troubles: Trouble[] = ["slow-down", "close", "lose-answer", "cut-answer"];
    let drawn = 0;
    const proxy = await through(() =>
      random(drawn++) < 0.3 ? (troubles[Math.floor(random(drawn++) * 4)] ?? "none") : "none",
    );
    const store = openStore(s3Backend(s3Place("s3://runs/troubled")), () => {});
    const own = Array.from({ length: 60 }, (_, number) => ({ number }));
    const recorded = await Promise.all(
      own.map((value, number) => store.record(keyOf("turns", number), value)),
    );
    for (const [number, value] of own.entries()) {
      expect(recorded[number], "a write that took effect counts as the writer's own").toBe(value);
      expect(await store.read(keyOf("turns", number))).toEqual(value);
    }
    const key = treeKeyOf<string>("steps", 1);
    const tree = await store.tree(
      key,
      async (local) => writeFileSync(join(local, "weights"), "1"),
      () => "one",
    );
    expect(await store.readTree(key)).toEqual(tree);
    expect(proxy.counts.troubles).toBeGreaterThan(20);
  });

  test("reads and writes wait for a server that was killed until it is back", async () => {
    const store = openStore(s3Backend(s3Place("s3://runs/killed")), () => {});
    await store.record(keyOf("before"), "written");
    await server.kill();
    const writing = store.record(keyOf("during"), "written too");
    await server.start();
    expect(await writing).toBe("written too");
    expect(await store.read(keyOf("before"))).toBe("written");
    expect(await store.read(keyOf("during"))).toBe("written too");
  });

  async function uploadsBelow(Prefix: string): Promise<(string | undefined)[]> {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: "runs", Prefix }));
    return Uploads.map(({ Key }) => Key);
  }
});
