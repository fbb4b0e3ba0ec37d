import type { HandlersOf } from "../../registry/handler.ts";
import type { jobsContract } from "./contract.ts";
import { debugPeer } from "./debug-peer.ts";
import { profilePeer } from "./profile-peer.ts";

export const jobsOperations: HandlersOf<typeof jobsContract> = { profile: profilePeer, debugBundle: debugPeer };
