import type { Containers } from "everturn/sandbox";
import { expect, test } from "vitest";

/** What containers of every kind do. The image has a shell, the usual tools and a user `agent`. */
export function containerClaims(containers: Containers, hasUsers = true): void {
  test("a program's output, its input and its exit code are told", async () => {
    const session = await containers.open();
    const code = "cat; echo said >&2; exit 3";
    expect(await session.run({ language: "shell", code, stdin: "read" })).toMatchObject({
      outcome: "failed",
      stdout: "read",
      stderr: "said\n",
      exitCode: 3,
    });
    const long = `x='${"a".repeat(150_000)}'; echo \${#x}`;
    expect(await session.run({ language: "shell", code: long })).toMatchObject({ stdout: "150000\n" });
    await expect(session.run({ language: "shell", code, keep: true })).rejects.toMatchObject({
      code: "SANDBOX_KEEPS_NOTHING",
    });
    await session.close();
    await expect(session.list()).rejects.toThrow("sandbox session is closed");
  });

  test("a command has a folder, a user and variables", async () => {
    const session = await containers.open();
    await session.put({ "/app/numbers.txt": "1\n2\n" });
    const ran = await session.exec({
      command: 'echo "$SAID"; cat numbers.txt; id -u',
      folder: "/app",
      user: hasUsers ? "agent" : "root",
      environment: { SAID: "it's" },
    });
    const id = hasUsers ? "1000" : "0";
    expect(ran).toMatchObject({ outcome: "finished", stdout: `it's\n1\n2\n${id}\n` });
    if (!hasUsers)
      await expect(session.exec({ command: "id", user: "agent" })).rejects.toMatchObject({
        code: "SANDBOX_USER_FIXED",
      });
    await session.close();
  });

  test("files go in and out, whatever a program puts in their place", async () => {
    const session = await containers.open();
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    await session.write({ "a/b.txt": "b", "it's": bytes });
    await session.run({
      language: "shell",
      code: 'rm -r a; ln -s /etc a; mkdir "it\'s 2"; ln -s /dev/zero z',
    });
    expect(await session.list()).toEqual([{ path: "it's", size: 300_000 }]);
    expect(await session.read("it's")).toEqual(Buffer.from(bytes));
    expect(await session.read("z")).toBeUndefined();
    await session.write({ "a/passwd": "mine" });
    expect((await session.exec({ command: "cat /etc/passwd" })).stdout).toContain("agent");
    await session.put({ "/app/deep/one": "1", "/app/two": "2" });
    const taken = await session.take("/app");
    expect(
      Object.entries(taken)
        .map(([path, content]) => [path, String(content)])
        .sort(),
    ).toEqual([
      ["/app/deep/one", "1"],
      ["/app/two", "2"],
    ]);
    expect(await session.take("/absent")).toEqual({});
    await expect(session.put({ "/app/../etc/x": "" })).rejects.toMatchObject({
      code: "SANDBOX_PATH_INVALID",
    });
    await session.close();
  });

  test("limits end what exceeds them, and the next command runs", async () => {
    const session = await containers.open({ limits: { time: 2, memory: 64, output: 1000, processes: 30 } });
    const outcomeOf = async (command: string) => (await session.exec({ command })).outcome;
    expect(await session.exec({ command: "echo begun; while :; do :; done" })).toMatchObject({
      outcome: "time-limit",
      stdout: "begun\n",
    });
    expect(await outcomeOf("while :; do echo yes; done")).toBe("output-limit");
    expect(await session.exec({ command: "echo again" })).toMatchObject({ stdout: "again\n" });
    const running = session.exec({ command: "sleep 60", signal: AbortSignal.timeout(300) });
    await expect(running).rejects.toThrow("aborted due to timeout");
    expect(await outcomeOf("f() { f | f & }; f; sleep 60")).toMatch(/limit/);
    expect(await session.exec({ command: "echo again" })).toMatchObject({ stdout: "again\n" });
    await session.close();
  });

  test("a session sees nothing of another one, and has no network", async () => {
    const [one, other] = [await containers.open(), await containers.open()];
    await one.exec({ command: "echo 1 >/tmp/mine; echo 2 >/work/mine" });
    expect(await other.exec({ command: "ls /tmp/mine /work/mine" })).toMatchObject({ outcome: "failed" });
    const devices = await one.exec({ command: "cat /proc/net/dev" });
    expect([...devices.stdout.matchAll(/^ *(\w+):/gm)].map(([, name]) => name)).toEqual(["lo"]);
    await Promise.all([one.close(), other.close()]);
  });

  test("a snapshot holds what was changed and removed", async () => {
    const session = await containers.open();
    await session.put({ "/app/one": "1" });
    await session.exec({
      command: "rm /etc/group; ln -s /x /tmp/link; mkdir /app/empty; chmod 700 /app/one",
    });
    const snapshot = await session.snapshot();
    await session.close();
    const restored = await containers.open({ from: snapshot });
    const look = "cat /app/one; ls -d /app/empty; ls -l /app/one /tmp/link";
    expect((await restored.exec({ command: look })).stdout).toMatch(
      /^1\/app\/empty\n-rwx------ .*\n.*link -> \/x\n/,
    );
    expect((await restored.exec({ command: "ls /etc/group" })).outcome).toBe("failed");
    await restored.close();
  });
}

/** What containers of files with control groups do: each command has a group of its own. */
export function groupClaims(containers: Containers): void {
  test("limits of memory and processes are reported for each command that exceeds them, and for no other", async () => {
    const session = await containers.open({ limits: { memory: 64, processes: 20 } });
    const exec = (command: string) => session.exec({ command });
    const forks = "while :; do sleep 9 & done";
    const bomb = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
    for (const _ of [1, 2]) {
      expect(await exec(forks)).toMatchObject({ outcome: "process-limit" });
      expect(await exec("exit 1")).toMatchObject({ outcome: "failed", exitCode: 1 });
      expect(await exec(bomb)).toMatchObject({ outcome: "memory-limit" });
      expect(await exec("exit 1")).toMatchObject({ outcome: "failed", exitCode: 1 });
      expect(await exec(`(${bomb}); exit 0`)).toMatchObject({ outcome: "finished" });
      expect(await exec("exit 1")).toMatchObject({ outcome: "failed", exitCode: 1 });
    }
    await session.close();
  });
}
