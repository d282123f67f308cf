import { expect, test } from "vitest";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { persistently } from "../../../../src/base/files/persistently.ts";

const failed = (code: string) => Object.assign(new Error(`${code}: made to fail, read`), { code });

test.each(["EIO", "ESTALE", "EACCES", "EPERM", "EAGAIN", "EMFILE", "ETIMEDOUT"])(
  "work that the disk fails (%s) is done again, whoever names the failure",
  async (code) => {
    const failures = [
      failed(code),
      new Error("it can't be read", { cause: failed(code) }),
      new EverturnError("STORE_NOT_READABLE", { file: "f", reason: code }),
    ];
    let tries = 0;
    const done = await persistently(() => {
      const failure = failures[tries++];
      if (failure !== undefined) throw failure;
      return "done";
    });
    expect([done, tries]).toEqual(["done", failures.length + 1]);
  },
);

test("a disk that goes on failing is tried eight times, and its own error is thrown", async () => {
  let tries = 0;
  const failure = failed("EIO");
  const work = persistently(async () => {
    tries++;
    throw failure;
  });
  await expect(work).rejects.toBe(failure);
  expect(tries).toBe(8);
});

test.each([
  failed("ENOENT"),
  failed("ENOTDIR"),
  failed("ENOSPC"),
  new Error("the file is not JSON"),
  new EverturnError("DISK_FULL", { file: "f", wanted: "", free: "0 MiB" }),
])("what another try would not mend is thrown at once: %s", async (failure) => {
  let tries = 0;
  const work = persistently(() => {
    tries++;
    throw failure;
  });
  await expect(work).rejects.toBe(failure);
  expect(tries).toBe(1);
});
