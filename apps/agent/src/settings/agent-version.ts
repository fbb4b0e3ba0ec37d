/** Version of the agent; the same number as in package.json (checked by a test). */
export const AGENT_VERSION = "0.1.0";
