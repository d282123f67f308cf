import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { seaweedHere, startS3Server } from "../../../../support/s3-server.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";
import { describeStore } from "../store-promises.ts";

const weed = await seaweedHere();

describe.skipIf(weed === undefined)("a real S3 server", async () => {
  if (weed === undefined) return;
  const server = await startS3Server(weed, join(temporaryFolder(), "s3"));
  Object.assign(process.env, server.env);
  afterAll(() => server.kill());

  describeStore("s3");
});
