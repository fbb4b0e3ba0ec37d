/** Every variable of the environment that sets something about the agent; none of them is secret. README.md says what each does. */
export const AGENT_VARIABLES = [
  "WEFT_CHECKSUM_ELISION",
  "WEFT_CIPHER",
  "WEFT_CONCEAL",
  "WEFT_DEBUG_FAULTS",
  "WEFT_DNS",
  "WEFT_FIREWALL_MARK",
  "WEFT_FORBIDDEN_JOBS",
  "WEFT_GRO_FLOWS",
  "WEFT_GSO_EQUAL_TAIL",
  "WEFT_GSO_MAX_SEGMENTS",
  "WEFT_IO",
  "WEFT_LANES",
  "WEFT_LOG",
  "WEFT_METRICS_PORT",
  "WEFT_MTU",
  "WEFT_MTU_MAX",
  "WEFT_NICENESS",
  "WEFT_REKEY_AFTER_SECONDS",
  "WEFT_SETTINGS_TRIAL_SECONDS",
  "WEFT_SHARDS",
  "WEFT_SOCKET_BUFFER_BYTES",
  "WEFT_STAGE_TIMING",
  "WEFT_STATE_DIR",
  "WEFT_TUN_OFFLOAD",
  "WEFT_TUN_QUEUE_LEN",
  "WEFT_UDP_BATCH",
  "WEFT_UDP_GRO",
  "WEFT_UDP_GSO",
  "WEFT_UDP_PORTS_NEVER_MERGED",
] as const;

/** Whether a variable is one of the agent's own. */
export function isAgentVariable(name: string): boolean {
  return AGENT_VARIABLES.some((own) => own === name);
}
