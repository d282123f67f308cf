import { randomBytes } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import { keyOfNewRun, rotateKey, runEncryption } from "../../../../src/control/encryption/run-encryption.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { readRunFile } from "../../../../src/run/folder/run-file.ts";

import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const [a, b] = ["a", "b"].map((id) => `${id}:${randomBytes(32).toString("base64")}`);
const setKeys = (...keys: (string | undefined)[]) => vi.stubEnv("EVERTURN_CODEC_KEYS", keys.join(","));

afterEach(() => void vi.unstubAllEnvs());

async function newRun() {
  const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
  return readRunFile(runs, await createRunFolder(plan, { runs, encryption: keyOfNewRun() }));
}

/** The ids of the keys that encrypt and decrypt a run's payloads in this process. */
async function used(file: Awaited<ReturnType<typeof newRun>>) {
  const found = await runEncryption(runs, file, "The worker");
  return found && [found.key.id, found.keys.map(({ id }) => id)];
}

test("a run that was created without keys stays readable; with keys, every process needs them", async () => {
  setKeys();
  const plain = await newRun();
  setKeys(a);
  expect(await used(plain)).toBeUndefined();
  const file = await newRun();
  expect(file.encryption).toEqual({ id: "a", check: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(await used(file)).toEqual(["a", ["a"]]);
  setKeys();
  await expect(used(file)).rejects.toThrow(
    `The worker can't decrypt the payloads of ${file.run}: EVERTURN_CODEC_KEYS does not contain the key “a”. Add the key to EVERTURN_CODEC_KEYS`,
  );
  setKeys(`a:${randomBytes(32).toString("base64")}`);
  await expect(used(file)).rejects.toThrow("The worker has a wrong key “a”");
});

test("the key that the run recorded last encrypts, whatever the order in a process", async () => {
  setKeys(a);
  const file = await newRun();
  setKeys(b, a);
  expect(await used(file), "not yet recorded").toEqual(["a", ["b", "a"]]);
  await rotateKey(runs, file);
  await rotateKey(runs, file);
  setKeys(a, b);
  expect(await used(file)).toEqual(["b", ["a", "b"]]);
  setKeys(b);
  await expect(used(file), "earlier payloads need it").rejects.toThrow("does not contain the key “a”");
  setKeys(a);
  await expect(used(file)).rejects.toThrow("does not contain the key “b”");
});
