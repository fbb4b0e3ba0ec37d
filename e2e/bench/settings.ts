/** MTU of every tunnel interface in bytes: WireGuard's own default on a 1,500-byte link. */
export const INNER_MTU = 1_420;
