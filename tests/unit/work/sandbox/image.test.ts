import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Containers, openContainers } from "everturn/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { unpackImage } from "../../../../src/work/sandbox/containers/image/unpack-image.ts";
import { onPath } from "../../../../src/work/sandbox/interpreters.ts";
import { bubblewrapHere } from "../../../support/bubblewrap.ts";
import { containerClaims, groupClaims } from "../../../support/container-claims.ts";
import { type Entry, smallRoot, tarOf, tarOfFolder, writeLayout } from "../../../support/small-image.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
let count = 0;
const newFolder = () => {
  const path = join(folder, String(count++));
  mkdirSync(path);
  return path;
};

/** The files of an image with these layers: contents, `-> target`, or `/` for a folder, by path. */
async function unpacked(layers: readonly Buffer[]): Promise<Record<string, string>> {
  const [files, root] = [newFolder(), newFolder()];
  const paths = [...layers.keys()].map((index) => join(files, String(index)));
  for (const [index, path] of paths.entries()) writeFileSync(path, layers[index] ?? "");
  await unpackImage(paths, root);
  return listed(root);
}

function listed(place: string): Record<string, string> {
  const paths = execFileSync("find", [place, "-mindepth", "1", "-printf", "%P\n"], { encoding: "utf8" });
  const found = paths
    .trim()
    .split("\n")
    .map((path): [string, string] => {
      const whole = join(place, path);
      const stats = lstatSync(whole);
      if (stats.isSymbolicLink()) return [path, `-> ${readlinkSync(whole)}`];
      return [path, stats.isDirectory() ? "/" : readFileSync(whole, "utf8")];
    });
  return Object.fromEntries(found.sort());
}

describe("an image's layers", () => {
  test("replace, remove and empty what is below them", async () => {
    const below: Entry[] = [
      { path: "etc" },
      { path: "etc/a", text: "a" },
      { path: "etc/b", text: "b" },
      { path: "old" },
      { path: "old/x", text: "x" },
      { path: "file", text: "f" },
    ];
    const above: Entry[] = [
      { path: "etc/.wh.a", text: "" },
      { path: "etc/b", text: "B" },
      { path: "old" },
      { path: "old/new", text: "n" },
      { path: "old/.wh..wh..opq", text: "" },
      { path: "file" },
      { path: "file/in", text: "i" },
    ];
    const all = { etc: "/", "etc/b": "B", file: "/", "file/in": "i", old: "/", "old/new": "n" };
    expect(await unpacked([tarOf(below), gzipSync(tarOf(above))])).toEqual(all);
    expect(await unpacked([zstdCompressSync(tarOf(below)), tarOf(above)])).toEqual(all);
  });

  test("follow the image's own links, and share hard links", async () => {
    const layers = [
      [
        { path: "usr" },
        { path: "usr/bin" },
        { path: "bin", link: "usr/bin" },
        { path: "up", link: "../../../usr" },
        { path: "tool", text: "t" },
      ],
      [
        { path: "bin/sh", text: "s", mode: 0o4755 },
        { path: "up/lib", text: "l" },
        { path: "usr/bin/tool", hardLink: "tool" },
      ],
    ];
    expect(await unpacked(layers.map((layer) => tarOf(layer)))).toEqual({
      bin: "-> usr/bin",
      tool: "t",
      up: "-> ../../../usr",
      usr: "/",
      "usr/bin": "/",
      "usr/bin/sh": "s",
      "usr/bin/tool": "t",
      "usr/lib": "l",
    });
    const last = join(folder, String(count - 1));
    expect(statSync(join(last, "tool")).ino).toBe(statSync(join(last, "usr/bin/tool")).ino);
    expect(statSync(join(last, "usr/bin/sh")).mode & 0o7777).toBe(0o755);
  });

  test("write nothing outside of the image", async () => {
    const outside = join(folder, "outside");
    mkdirSync(outside);
    const up = "../".repeat(20);
    expect(
      await unpacked([
        tarOf([{ path: "out", link: outside }]),
        tarOf([{ path: "out/evil", text: "e" }]),
        tarOf([{ path: "up", link: `${up}${outside.slice(1)}` }]),
        tarOf([{ path: "up/evil", text: "e" }]),
      ]),
    ).toMatchObject({ out: `-> ${outside}` });
    await expect(unpacked([tarOf([{ path: `${up}evil`, text: "e" }])])).rejects.toThrow("leads out of it");
    await expect(unpacked([tarOf([{ path: "a", hardLink: "/etc/passwd" }])])).rejects.toThrow(
      "leads nowhere",
    );
    const circle = tarOf([
      { path: "a", link: "b" },
      { path: "b", link: "a" },
      { path: "a/x", text: "" },
    ]);
    await expect(unpacked([circle])).rejects.toThrow("do not end");
    expect(readdirSync(outside)).toEqual([]);
  });

  test("that are damaged or cut off are refused", async () => {
    const layer = tarOf([{ path: "a", text: "a".repeat(2000) }]);
    await expect(unpacked([layer.subarray(0, 1024)])).rejects.toThrow();
    const path = writeLayout(newFolder(), [layer]);
    const blobs = join(path, "blobs", "sha256");
    const blob = readdirSync(blobs).find((name) => statSync(join(blobs, name)).size === layer.length) ?? "";
    writeFileSync(join(blobs, blob), tarOf([{ path: "a", text: "b" }]));
    const opened = openContainers({ kind: "bubblewrap", image: path });
    await expect(opened).rejects.toThrow(onPath("bwrap") === undefined ? "bwrap" : "damaged");
    await expect(openContainers({ kind: "bubblewrap", image: newFolder() })).rejects.toThrow(
      onPath("bwrap") === undefined ? "bwrap" : "is not an image",
    );
  });

  test.runIf(onPath("umoci") !== undefined)("unpack to what umoci makes of them", async () => {
    const layers = [
      tarOf([{ path: "a" }, { path: "a/x", text: "x" }, { path: "l", link: "a" }, { path: "b", text: "b" }]),
      tarOf([
        { path: "a/.wh.x", text: "" },
        { path: "a/y", text: "y" },
        { path: "h", hardLink: "a/y" },
      ]),
    ];
    const own = await unpacked(layers);
    const [image, bundle] = [newFolder(), join(folder, "bundle")];
    execFileSync("umoci", ["init", "--layout", join(image, "oci")]);
    execFileSync("umoci", ["new", "--image", `${join(image, "oci")}:1`]);
    for (const [index, layer] of layers.entries()) {
      writeFileSync(join(image, String(index)), layer);
      const add = ["raw", "add-layer", "--image", `${join(image, "oci")}:1`, join(image, String(index))];
      execFileSync("umoci", add);
    }
    execFileSync("umoci", ["unpack", "--rootless", "--image", `${join(image, "oci")}:1`, bundle]);
    expect(listed(join(bundle, "rootfs"))).toEqual(own);
  });
});

const root = (await bubblewrapHere()) === undefined ? undefined : smallRoot(newFolder());
const config = { Env: ["GREETING=hello"], WorkingDir: "/tmp" };
const here =
  root === undefined
    ? undefined
    : await openContainers({
        kind: "bubblewrap",
        image: writeLayout(newFolder(), [tarOfFolder(root)], config),
      });

describe.runIf(here !== undefined)("an image unpacked for bubblewrap", () => {
  const containers = here as Containers;
  afterAll(() => containers.close());

  containerClaims(containers);
  groupClaims(containers);

  test("has the image's variables and working folder, and nothing of the machine", async () => {
    const session = await containers.open();
    expect(
      await session.exec({ command: 'echo "$GREETING $PWD"; ls /usr/lib/node_modules /home' }),
    ).toMatchObject({
      stdout: "hello /tmp\n",
      outcome: "failed",
    });
    await session.exec({ command: "rm -rf /proc /dev /work; ln -s /etc /proc; ln -s /tmp /work" });
    expect(await session.run({ language: "shell", code: "echo here >file; cat file" })).toMatchObject({
      stdout: "here\n",
    });
    await session.close();
  });

  test("may be an archive of docker save", async () => {
    const [parts, archive] = [newFolder(), join(folder, "saved.tar")];
    writeFileSync(join(parts, "layer.tar"), tarOfFolder(root ?? ""));
    writeFileSync(join(parts, "config.json"), JSON.stringify({ config: {} }));
    const manifest = [{ Config: "config.json", Layers: ["layer.tar"] }];
    writeFileSync(join(parts, "manifest.json"), JSON.stringify(manifest));
    writeFileSync(archive, tarOfFolder(parts));
    const saved = await openContainers({ kind: "bubblewrap", image: archive });
    const session = await saved.open();
    expect(await session.exec({ command: "echo 1" })).toMatchObject({ stdout: "1\n" });
    await saved.close();
  });
});
