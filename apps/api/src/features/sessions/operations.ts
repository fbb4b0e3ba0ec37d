import type { HandlersOf } from "../../registry/handler.ts";
import type { sessionsContract } from "./contract.ts";
import { currentSession } from "./current-session.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { listSessions, revokeOtherSessions, revokeSession } from "./manage-sessions.ts";

export const sessionsOperations: HandlersOf<typeof sessionsContract> = {
  login,
  logout,
  current: currentSession,
  list: listSessions,
  revoke: revokeSession,
  revokeOthers: revokeOtherSessions,
};
