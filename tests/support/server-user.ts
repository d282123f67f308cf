// Uses a server until it is killed: prints its address. The argument is its `start`, as JSON.
import { serverAddress } from "everturn/plugin";

const [start = ""] = process.argv.slice(2);
process.stdout.write(`${await serverAddress({ start: JSON.parse(start) }, { ready: "/" })}\n`);
setInterval(() => {}, 1000);
