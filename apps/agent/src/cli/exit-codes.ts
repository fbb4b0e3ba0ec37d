/** How `weft` ends; part of the interface, listed by `weft help`. */
export const EXIT_CODES = {
  ok: 0,
  /** Something failed that has no code of its own. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  notJoined: 3,
  notRunning: 4,
  unreachable: 5,
  refused: 6,
  permission: 7,
  alreadyJoined: 8,
  timeout: 9,
  noReply: 10,
  /** A plan was asked for, and there is something to do. */
  differs: 11,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** The exit code that belongs to an error code of the agent. */
export function exitCodeOf(errorCode: string): ExitCode {
  return CODES.get(errorCode) ?? EXIT_CODES.failed;
}

/** The table for the help text. */
export const EXIT_CODE_HELP: readonly (readonly [ExitCode, string])[] = [
  [EXIT_CODES.ok, "done"],
  [EXIT_CODES.failed, "failed"],
  [EXIT_CODES.usage, "wrong command line"],
  [EXIT_CODES.notJoined, "this host belongs to no network"],
  [EXIT_CODES.notRunning, "the daemon does not run"],
  [EXIT_CODES.unreachable, "the server cannot be reached"],
  [EXIT_CODES.refused, "the server refuses (key spent, expired, node removed)"],
  [EXIT_CODES.permission, "not permitted here (try as root)"],
  [EXIT_CODES.alreadyJoined, "joined or running already"],
  [EXIT_CODES.timeout, "took too long"],
  [EXIT_CODES.noReply, "no reply to any ping"],
  [EXIT_CODES.differs, "the server differs from the file (weft admin config plan)"],
];

const CODES: ReadonlyMap<string, ExitCode> = new Map<string, ExitCode>([
  ["usage", EXIT_CODES.usage],
  ["bad_request", EXIT_CODES.usage],
  ["bad_url", EXIT_CODES.usage],
  ["bad_key", EXIT_CODES.usage],
  ["bad_environment", EXIT_CODES.usage],
  ["unknown_peer", EXIT_CODES.usage],
  ["not_joined", EXIT_CODES.notJoined],
  ["not_running", EXIT_CODES.notRunning],
  ["unreachable", EXIT_CODES.unreachable],
  ["not_connected", EXIT_CODES.unreachable],
  ["closed", EXIT_CODES.unreachable],
  ["http", EXIT_CODES.unreachable],
  // Something between here and the server changes messages, or what answers is no server of ours.
  ["tampered", EXIT_CODES.unreachable],
  ["bad_frame", EXIT_CODES.unreachable],
  // The server holds to another protocol than this agent's; trying again does not help.
  ["protocol", EXIT_CODES.refused],
  ["wrong_server", EXIT_CODES.refused],
  ["version", EXIT_CODES.refused],
  ["channel", EXIT_CODES.refused],
  ["refused", EXIT_CODES.refused],
  ["removed", EXIT_CODES.refused],
  ["permission", EXIT_CODES.permission],
  ["tun_permission", EXIT_CODES.permission],
  ["already_joined", EXIT_CODES.alreadyJoined],
  ["held", EXIT_CODES.alreadyJoined],
  ["timeout", EXIT_CODES.timeout],
  ["no_reply", EXIT_CODES.noReply],
]);
