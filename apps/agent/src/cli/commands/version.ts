import { ok, PROTOCOL_VERSION } from "@weft/protocol";

import { AGENT_VERSION } from "../../settings/agent-version.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";

/** Says which version this is. */
export function version(context: CommandContext): CommandOutcome {
  const { arch, platform, version: node } = process;
  context.output.result({ version: AGENT_VERSION, protocol: PROTOCOL_VERSION, node, platform, arch }, [
    `weft ${AGENT_VERSION} (agent protocol ${PROTOCOL_VERSION}, Node ${node}, ${platform} ${arch})`,
  ]);
  return ok(EXIT_CODES.ok);
}
