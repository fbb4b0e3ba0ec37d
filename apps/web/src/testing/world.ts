import type {
  Outputs,
  Account,
  EnrolmentKey,
  FlowRecord,
  Group,
  Invite,
  NameRecord,
  Nameservers,
  NameSettings,
  Network,
  Peer,
  Route,
  RouteApprover,
  Rule,
  RuleHits,
  Session,
  Token,
} from "../api/types.ts";

/** What the control plane of a test knows. */
export type World = {
  ownerExists: boolean;
  signedIn: boolean;
  networks: Network[];
  peers: Peer[];
  groups: Group[];
  rules: Rule[];
  ruleHits: RuleHits[];
  flows: FlowRecord[];
  routes: Route[];
  approvers: RouteApprover[];
  records: NameRecord[];
  nameservers: Nameservers[];
  nameSettings: NameSettings;
  keys: EnrolmentKey[];
  tokens: Token[];
  people: Account[];
  invites: Invite[];
  sessions: Session[];
  providers: { id: string; name: string }[];
  update: Outputs["instance"]["get"]["update"];
  role: Account["role"];
  secondFactor: "off" | "pending" | "on";
};
