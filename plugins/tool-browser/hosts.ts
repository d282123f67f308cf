import { lookup } from "node:dns/promises";
import { BlockList, isIP, isIPv6 } from "node:net";

/** The hosts that may be contacted. */
export interface HostRules {
  /** `example.org`, `*.example.org`, `example.org:8080`, `*`. Without a port: 80 and 443. */
  hosts: readonly string[];
  /** Whether their addresses may belong to this machine or to private networks. */
  private: boolean;
}

const reserved = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  reserved.addSubnet(network, bits, "ipv4");

const global = new BlockList();
global.addSubnet("2000::", 3, "ipv6");

const embedding = new BlockList();
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  embedding.addSubnet(network, bits, "ipv6");

/**
 * Whether an address is on the public internet, and not in a private, local, documentation or tunnel network.
 */
export function isPublic(address: string): boolean {
  if (!isIPv6(address)) return isIP(address) === 4 && !reserved.check(address, "ipv4");
  return global.check(address, "ipv6") && !embedding.check(address, "ipv6");
}

/** Returns the address of a host. Throws, with the reason, if it may not be contacted. */
export async function allowedAddress(host: string, port: number, rules: HostRules): Promise<string> {
  if (!rules.hosts.some((rule) => fits(rule, host.toLowerCase(), port)))
    throw new Error(`${host}${isUsual(port) ? "" : `:${port}`} is not among the hosts that may be asked`);
  const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true });
  const other = rules.private ? undefined : found.find(({ address }) => !isPublic(address));
  if (other !== undefined) throw new Error(`${host} has the private address ${other.address}`);
  const [first] = found;
  if (first === undefined) throw new Error(`${host} has no address`);
  return first.address;
}

function fits(rule: string, host: string, port: number): boolean {
  const [, name = "", named] = /^(.*?)(?::(\d+))?$/.exec(rule.toLowerCase()) ?? [];
  if (named === undefined ? !isUsual(port) : Number(named) !== port) return false;
  if (name === "*") return true;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}

function isUsual(port: number): boolean {
  return port === 80 || port === 443;
}
