/** MTU of every tunnel interface in bytes: WireGuard's own default on a 1,500-byte link. */
export const INNER_MTU = 1_420;
/** MTU of yip's interface: its datagrams carry less than WireGuard's. */
export const YIP_MTU = 1_184;
