import type { AppRouter, NetworkEvent, PeerEvent, PeerView, Scope, ServerRole } from "@weft/api/contract";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";

/** What the operations take and answer, as the control plane's contract declares it. */
export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

export type Peer = PeerView;
export type Network = Outputs["networks"]["get"];
export type EnrolmentKey = Outputs["enrolmentKeys"]["list"]["items"][number];
export type Group = Outputs["groups"]["list"]["items"][number];
export type Rule = Outputs["rules"]["list"]["items"][number];
export type Route = Outputs["routes"]["list"]["items"][number];
export type RouteConflict = Route["conflicts"][number];
export type RouteApprover = Outputs["routeApprovers"]["list"]["items"][number];
export type NameRecord = Outputs["nameRecords"]["list"]["items"][number];
export type Nameservers = Outputs["nameservers"]["list"]["items"][number];
export type NameSettings = Outputs["nameSettings"]["get"];
export type Token = Outputs["tokens"]["list"]["items"][number];
export type Account = Outputs["users"]["list"]["items"][number];
export type Invite = Outputs["invites"]["list"]["items"][number];
export type Session = Outputs["sessions"]["list"]["items"][number];
export type PingResult = Outputs["peers"]["ping"];
export type Diagnosis = Outputs["peers"]["diagnose"];
export type Expiration = Outputs["expirations"]["list"]["items"][number];
export type FlowRecord = Outputs["flowLogs"]["list"]["items"][number];
export type RuleHits = Outputs["rules"]["hits"]["items"][number];
export type AuditEvent = Outputs["auditEvents"]["list"]["items"][number];
export type PeerSample = Extract<PeerEvent, { readonly kind: "sample" }>;
export type LinkSample = PeerSample["links"][number];
export type StageSample = PeerSample["stages"][number];
export type OffloadState = PeerSample["offload"][number];
export type { AppRouter, NetworkEvent, PeerEvent, Scope, ServerRole };
