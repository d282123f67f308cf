import fs, { writeFileSync } from "node:fs";
import promises from "node:fs/promises";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { keyOf, treeKeyOf } from "../../src/run/store/key.ts";
import { openStore } from "../../src/run/store/open-store.ts";
import { type BackendPlace, openBackend } from "./open-backend.ts";

/** What a process of the tests does with a store; see `main` below. Argument: JSON. It prints JSON. */
export type WriterOrder = { place: BackendPlace; name: string } & (
  | { does: "race"; count: number }
  | { does: "tree"; killAt: number }
);

const order: WriterOrder = JSON.parse(process.argv[2] ?? "");
const store = openStore(openBackend(order.place), () => {});

/** Has this process killed at the so many-th call that changes the file system, or of the object store, before it is made. */
function killAt(call: number): void {
  let calls = 0;
  const counted = (module: object, name: string) => {
    const real = Reflect.get(module, name);
    Reflect.set(module, name, (...parameters: unknown[]) => {
      if (++calls === call) process.kill(process.pid, "SIGKILL");
      return Reflect.apply(real, module, parameters);
    });
  };
  if ("root" in order.place) {
    for (const name of ["mkdirSync", "writeFileSync", "linkSync", "rmSync"]) counted(fs, name);
    for (const name of ["open", "rm"]) counted(promises, name);
  } else {
    counted(http, "request");
  }
  syncBuiltinESMExports();
}

if (order.does === "race") {
  const { name, count } = order;
  const puts = Array.from({ length: count }, (_, number) =>
    store.record(keyOf<string>("race", number), `${name} ${number}`),
  );
  process.stdout.write(JSON.stringify(await Promise.all(puts)));
} else {
  const { name, killAt: call } = order;
  const key = treeKeyOf<string>("trees", name);
  killAt(call);
  const write = async (folder: string) => {
    fs.mkdirSync(join(folder, "policy"));
    writeFileSync(join(folder, "policy", "weights"), name);
    writeFileSync(join(folder, "state"), name);
  };
  process.stdout.write(JSON.stringify(await store.tree(key, write, () => name)));
}
