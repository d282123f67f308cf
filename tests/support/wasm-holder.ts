// Opens a WebAssembly sandbox in which a program runs for ever, and prints the id of the process in which it does.
import { openSandbox } from "everturn/sandbox";

const sandbox = await openSandbox("wasm", { modules: import.meta.url });
const session = await sandbox.open({
  limits: { time: 600 },
  hold(handle) {
    if (typeof handle === "object" && handle !== null && "pid" in handle)
      process.stdout.write(`${handle.pid}\n`);
  },
});
await session.run({ language: "python", code: "while True: pass", keep: true });
