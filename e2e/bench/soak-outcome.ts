/** What a soak run showed. */
export type SoakOutcome = {
  readonly disturbances: number;
  readonly handshakes: number;
  readonly gigabytes: number;
  /** Flows that both ends began to follow; most of them have one packet. */
  readonly flows: number;
  /** The longest time until traffic flowed again after a disturbance was over. */
  readonly recoveryMsMax: number;
  /** Handshake messages that the engine could not hand to the slow path. */
  readonly lostEvents: number;
  /** Counters that were lower than before. */
  readonly countersGoneBack: readonly string[];
  /** Growth of the larger daemon from the end of the first third to the end. */
  readonly rssGrowthMb: number;
  readonly faults: number;
  /** Sends that were refused because the soak had taken the network away; no faults. */
  readonly refusedInAbsence: number;
  /** Bytes that were compared at their end and were the same, and transfers whose bytes were not. */
  readonly comparedBytes: number;
  readonly alteredTransfers: number;
  /** What must not be; empty after a good run. */
  readonly problems: readonly string[];
};
