import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/**
 * A tool's host in a process of its own: answers 42 on loopback, and logs the key of each call. With a third argument it
 * answers one call of the first step, and holds the later ones.
 */
const [log = "", port = "", holds] = process.argv.slice(2);
let isHolding = false;
appendFileSync(log, "");
const server = createServer(async (request, response) => {
  const { key } = JSON.parse(await text(request));
  appendFileSync(log, `${key}\n`);
  if (isHolding) return;
  isHolding = holds !== undefined && key.includes("/step-0001/");
  response.end("42");
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write("listening\n"));
