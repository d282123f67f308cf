import { type Containers, openContainers } from "everturn/sandbox";
import { afterAll, describe, expect, test, vi } from "vitest";
import { daytonaApi } from "../../../../src/work/sandbox/containers/daytona/api.ts";
import { mark, reap } from "../../../../src/work/sandbox/containers/daytona/reap.ts";
import { leaseLabels } from "../../../../src/work/sandbox/containers/leases.ts";
import { containerClaims } from "../../../support/container-claims.ts";
import { daytonaServer } from "../../../support/daytona-server.ts";
import { engineImage } from "../../../support/engine-image.ts";

const image = await engineImage("podman");

describe.runIf(image !== undefined)("Daytona", async () => {
  const engine = await openContainers({ kind: "podman", image: image ?? "" });
  const server = await daytonaServer(engine, "of-the-key");
  vi.stubEnv("TESTED_DAYTONA_KEY", "of-the-key");
  const wish = { kind: "daytona", image: "docker.io/library/small:1", url: server.url };
  const containers: Containers = await openContainers({ ...wish, key: "TESTED_DAYTONA_KEY" });
  afterAll(async () => {
    await containers.close();
    expect(server.held.size).toBe(0);
    server.close();
    await engine.close();
  });

  containerClaims(containers, false);

  test("a sandbox is asked for with its image, limits and lease, and without a network", async () => {
    const session = await containers.open({ limits: { memory: 1500 }, labels: { trajectory: "of/this" } });
    const [asked] = [...server.held.values()].map((one) => one.asked);
    expect(asked).toMatchObject({
      buildInfo: { dockerfileContent: "FROM docker.io/library/small:1\n" },
      memory: 2,
      networkBlockAll: true,
      autoDeleteInterval: 0,
      labels: { ...mark, "everturn.trajectory": "of/this" },
    });
    expect(Number(asked?.autoStopInterval)).toBeGreaterThan(0);
    expect(Number(asked?.ttlMinutes)).toBeGreaterThan(0);
    await session.close();
    expect(server.held.size).toBe(0);
  });

  test("the next worker removes the sandboxes of one that is gone, and no others", async () => {
    const api = daytonaApi(server.url, { authorization: "Bearer of-the-key" });
    const owner = JSON.stringify({ pid: 1, started: "0", machine: "another" });
    const over = { ...mark, "everturn.owner": owner, "everturn.until": "1" };
    for (const labels of [over, { ...mark, ...leaseLabels() }, { "everturn.until": "1" }])
      await api.create({ labels }, undefined);
    expect(await reap(api)).toBe(1);
    expect(server.held.size).toBe(2);
    for (const id of server.held.keys()) await api.remove(id);
  });

  test("a wrong key and a missing one are told", async () => {
    vi.stubEnv("WRONG_DAYTONA_KEY", "another");
    await expect(openContainers({ ...wish, key: "WRONG_DAYTONA_KEY" })).rejects.toThrow("it answered 401");
    await expect(openContainers({ ...wish, key: "ABSENT_DAYTONA_KEY" })).rejects.toThrow(
      "the environment variable ABSENT_DAYTONA_KEY is not set",
    );
  });
});
