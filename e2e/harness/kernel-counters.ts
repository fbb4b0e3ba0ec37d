import type { Host } from "./namespaces.ts";

/** Error counters of a host's kernel that a correct tunnel never moves. */
export type KernelErrors = {
  readonly tcpChecksum: number;
  readonly udpChecksum: number;
  readonly udp6Checksum: number;
  readonly reassembly: number;
};

/** Reads the kernel's error counters of a host. */
export async function kernelErrors(host: Host): Promise<KernelErrors> {
  const snmp = await host.must("cat", ["/proc/net/snmp"]);
  const snmp6 = await host.must("cat", ["/proc/net/snmp6"]);
  return {
    tcpChecksum: column(snmp, "Tcp", "InCsumErrors"),
    udpChecksum: column(snmp, "Udp", "InCsumErrors"),
    udp6Checksum: Number(/^Udp6InCsumErrors\s+(\d+)$/m.exec(snmp6)?.[1] ?? 0),
    reassembly: column(snmp, "Ip", "ReasmFails"),
  };
}

/** Packets a host's IPv4 received with the mark "congestion experienced". */
export async function congestionMarks(host: Host): Promise<number> {
  return column(await host.must("cat", ["/proc/net/netstat"]), "IpExt", "InCEPkts");
}

/** TCP segments a host sent more than once. */
export async function retransmissions(host: Host): Promise<number> {
  return column(await host.must("cat", ["/proc/net/snmp"]), "Tcp", "RetransSegs");
}

function column(snmp: string, protocol: string, name: string): number {
  const [names, values] = snmp.split("\n").filter((line) => line.startsWith(`${protocol}: `));
  const index = (names ?? "").split(" ").indexOf(name);
  const value = (values ?? "").split(" ").at(index);
  if (index === -1 || value === undefined) throw new Error(`the kernel has no counter ${protocol} ${name}`);
  return Number.parseInt(value, 10);
}
