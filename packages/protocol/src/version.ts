/** Version of the agent stream that this code speaks. */
export const PROTOCOL_VERSION = 2;
/** Oldest version of the agent stream that this code still speaks. */
export const PROTOCOL_VERSION_MIN = 2;

export type VersionVerdict = "ok" | "agent_too_old" | "agent_too_new";

/** Judges an agent's protocol version against the range that a server speaks. */
export function compareVersions(agent: number, server: { readonly min: number; readonly max: number }): VersionVerdict {
  if (agent < server.min) return "agent_too_old";
  return agent > server.max ? "agent_too_new" : "ok";
}
