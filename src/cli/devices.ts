import type { Command } from "commander";
import { fetchCuda } from "../devices/cuda.ts";
import { devices } from "../devices/device.ts";
import { probeDevice } from "../devices/probe-device.ts";

/** `everturn devices`: what models can run on here; `everturn devices fetch cuda`: get what CUDA needs. */
export function registerDevices(program: Command): void {
  const command = program
    .command("devices")
    .description("list what models can run on here, and why not")
    .action(listDevices);
  command
    .command("fetch")
    .description("download a device's libraries into the user's cache")
    .argument("<device>", "cuda")
    .option("--with-libraries", "also CUDA 13 and cuDNN 9 (1 GB), where the system has none")
    .action(fetchDevice);
}

async function listDevices(): Promise<void> {
  for (const device of devices) {
    const obstacle = await probeDevice(device);
    const found = obstacle ? `no: ${obstacle.reason}. ${obstacle.hint}` : "yes";
    process.stdout.write(`${device.padEnd(8)}${found}\n`);
  }
}

async function fetchDevice(
  device: string,
  options: { withLibraries?: true },
  command: Command,
): Promise<void> {
  if (device !== "cuda") command.error(`error: nothing is to be fetched for “${device}”, only for cuda`);
  await fetchCuda({ libraries: options.withLibraries ?? false }, (line) => process.stdout.write(`${line}\n`));
  await listDevices();
}
