// Opens containers of the engine and image in its arguments, runs programs in them, and prints a line when they run.
import { openContainers } from "everturn/sandbox";

const [kind = "", image = "", count = "1"] = process.argv.slice(2);
const containers = await openContainers({ kind, image });
const sessions = await Promise.all(
  Array.from({ length: Number(count) }, () =>
    containers.open({ limits: { time: 600 }, labels: { holder: String(process.pid) } }),
  ),
);
for (const session of sessions) void session.exec({ command: "sleep 600 & sleep 600" });
process.stdout.write("held\n");
