import { Argument, type Command } from "commander";
import { fetchCuda } from "../../../engine/devices/cuda.ts";
import { devices } from "../../../engine/devices/device.ts";
import { probeDevice } from "../../../engine/onnx/probe-device.ts";

/**
 * `everturn devices`: checks which devices can run models here. `everturn devices fetch cuda`: downloads CUDA's
 * libraries.
 */
export function registerDevices(program: Command): void {
  const command = program
    .command("devices")
    .description("list the devices that can run models on this machine, and why others cannot")
    .action(listDevices);
  command
    .command("fetch")
    .description("download the libraries of a device to the user's cache")
    .addArgument(new Argument("<device>", "device to fetch libraries for").choices(["cuda"]))
    .option("--with-libraries", "also download CUDA 13 and cuDNN 9 (1 GB), for systems without them")
    .action(async (_device: string, options: { withLibraries?: true }) => {
      const libraries = options.withLibraries ?? false;
      await fetchCuda({ libraries }, (line) => process.stdout.write(`${line}\n`));
      await listDevices();
    });
}

async function listDevices(): Promise<void> {
  for (const device of devices) {
    const obstacle = await probeDevice(device);
    const found = obstacle ? `no: ${obstacle.reason}. ${obstacle.hint}` : "yes";
    process.stdout.write(`${device.padEnd(8)}${found}\n`);
  }
}
