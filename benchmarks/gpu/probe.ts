// Prints what keeps a device (the argument) from working here, as JSON; null if nothing does.
import { devices } from "../../src/engine/devices/device.ts";
import { probeDevice } from "../../src/engine/onnx/probe-device.ts";

const device = devices.find((name) => name === process.argv[2]) ?? "cpu";
console.log(JSON.stringify((await probeDevice(device)) ?? null));
