export { type AmneziaConf, type ConfPeer, type ConfSection, formatAmneziaConf, parseAmneziaConf } from "./conf.ts";
export { concealCommon } from "./compatibility.ts";
export { concealKeys, isConcealKey, setConcealKeys } from "./keys.ts";
export { formatConcealLines, parseConcealLines } from "./lines.ts";
export { CONCEAL_PRESETS, type ConcealPreset, makeConceal } from "./presets.ts";
export {
  CONCEAL_KINDS,
  CONCEAL_SIGNATURES,
  concealInnerMtu,
  type ConcealProfile,
  type ConcealRange,
  DATAGRAM_BYTES_MAX,
  PLAIN_CONCEAL,
} from "./profile.ts";
export type { ConcealDialect } from "./readers.ts";
export { concealAdvice, type ConcealProblem, formatConcealProblem, formatConcealRange } from "./rules.ts";
export { type ConcealTags, parseConcealTags } from "./tags.ts";
