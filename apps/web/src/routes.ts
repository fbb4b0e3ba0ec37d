/** Every path of the dashboard. Nothing else in this package writes one by hand. */
export const paths = {
  home: "/",
  setup: "/setup",
  login: "/login",
  loginCallback: "/login/callback",
  invite: "/invite",
  client: "/client",
  networks: "/networks",
  overview: "/networks/$networkId",
  peers: "/networks/$networkId/peers",
  addHost: "/networks/$networkId/peers/add",
  peer: "/networks/$networkId/peers/$peerId",
  policy: "/networks/$networkId/policy",
  routes: "/networks/$networkId/routes",
  names: "/networks/$networkId/names",
  diagnose: "/networks/$networkId/diagnose",
  settings: "/networks/$networkId/settings",
  access: "/access",
  audit: "/audit",
  expirations: "/expirations",
} as const;

/** Ids of the routes that read their own parameters or search; pages inside the frame carry its name. */
export const routeIds = {
  setup: paths.setup,
  login: paths.login,
  access: `/shell${paths.access}`,
  overview: `/shell${paths.overview}`,
  peers: `/shell${paths.peers}`,
  addHost: `/shell${paths.addHost}`,
  peer: `/shell${paths.peer}`,
  policy: `/shell${paths.policy}`,
  routes: `/shell${paths.routes}`,
  names: `/shell${paths.names}`,
  diagnose: `/shell${paths.diagnose}`,
  audit: `/shell${paths.audit}`,
  expirations: `/shell${paths.expirations}`,
  settings: `/shell${paths.settings}`,
} as const;

/** Where the control plane answers. */
export const trpcPath = "/trpc";

/** The page that documents the API; served by the control plane, not by this application. */
export const apiDocsPath = "/api/v1/docs";

/** Columns the peer table sorts by; a leading minus turns the order round. */
export const PEER_SORTS = ["name", "status", "lastSeen", "rate"] as const;
export type PeerSortColumn = (typeof PEER_SORTS)[number];
export type PeerSort = PeerSortColumn | `-${PeerSortColumn}`;

/** Which peers the table shows. */
export const PEER_FILTERS = ["online", "offline", "pending"] as const;
export type PeerFilter = (typeof PEER_FILTERS)[number];

export type PeersSearch = { readonly q?: string; readonly sort?: PeerSort; readonly show?: PeerFilter };

/** Reads the search of the peer table; what it does not understand is left out. */
export function parsePeersSearch(search: Record<string, unknown>): PeersSearch {
  const { q, sort, show } = search;
  return {
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(typeof sort === "string" && isPeerSort(sort) ? { sort } : {}),
    ...(isFilter(show) ? { show } : {}),
  };
}

/** How many seconds the chart of a peer shows. */
export const CHART_RANGES = ["60", "300", "600"] as const;
export type ChartRange = (typeof CHART_RANGES)[number];

export type PeerSearch = { readonly range?: ChartRange };

/** Reads the search of the peer page. */
export function parsePeerSearch(search: Record<string, unknown>): PeerSearch {
  const range = CHART_RANGES.find((known) => known === String(search["range"]));
  return range ? { range } : {};
}

/** Protocols one can ask the policy about. */
export const DIAGNOSE_PROTOCOLS = ["tcp", "udp", "icmp", "icmpv6", "sctp"] as const;
export type DiagnoseProtocol = (typeof DIAGNOSE_PROTOCOLS)[number];

/** The question of the diagnosis; a link to it asks it again. */
export type DiagnoseSearch = {
  readonly from?: string;
  readonly to?: string;
  readonly protocol?: DiagnoseProtocol;
  readonly port?: number;
};

/** Reads the question of the diagnosis. */
export function parseDiagnoseSearch(search: Record<string, unknown>): DiagnoseSearch {
  const { from, to } = search;
  const protocol = DIAGNOSE_PROTOCOLS.find((known) => known === search["protocol"]);
  const port = Number(search["port"]);
  return {
    ...(isId(from) ? { from } : {}),
    ...(isId(to) ? { to } : {}),
    ...(protocol ? { protocol } : {}),
    ...(Number.isInteger(port) && port >= 1 && port <= 65_535 ? { port } : {}),
  };
}

/** What ends by itself. */
export const EXPIRING_KINDS = ["peer", "enrolmentKey", "token", "invite"] as const;
export type ExpiringKind = (typeof EXPIRING_KINDS)[number];

export type ExpirationsSearch = { readonly kind?: ExpiringKind };

/** Reads the search of the page of what expires. */
export function parseExpirationsSearch(search: Record<string, unknown>): ExpirationsSearch {
  const kind = EXPIRING_KINDS.find((known) => known === search["kind"]);
  return kind ? { kind } : {};
}

/** Parts of the page about routes. */
export const ROUTES_VIEWS = ["routes", "exits", "approvers"] as const;
export type RoutesView = (typeof ROUTES_VIEWS)[number];

/** States a route can be filtered by. */
export const ROUTE_STATES = ["pending", "approved"] as const;
export type RouteState = (typeof ROUTE_STATES)[number];

/** Orders of the lists about routes; a leading minus is newest first. */
export const AGE_ORDERS = ["-createdAt", "createdAt"] as const;
export type AgeOrder = (typeof AGE_ORDERS)[number];

export type RoutesSearch = {
  readonly view?: RoutesView;
  readonly q?: string;
  readonly state?: RouteState;
  readonly peer?: string;
  readonly sort?: AgeOrder;
};

/** Reads the search of the page about routes. */
export function parseRoutesSearch(search: Record<string, unknown>): RoutesSearch {
  const view = ROUTES_VIEWS.find((known) => known === search["view"]);
  const state = ROUTE_STATES.find((known) => known === search["state"]);
  const sort = AGE_ORDERS.find((known) => known === search["sort"]);
  const { peer } = search;
  return {
    ...(view ? { view } : {}),
    ...parseQ(search),
    ...(state ? { state } : {}),
    ...(isId(peer) ? { peer } : {}),
    ...(sort ? { sort } : {}),
  };
}

/** Parts of the page about names. */
export const NAMES_VIEWS = ["records", "servers", "domain"] as const;
export type NamesView = (typeof NAMES_VIEWS)[number];

/** Types of records there are. */
export const RECORD_TYPES = ["A", "AAAA", "CNAME"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Orders of the lists about names. */
export const NAME_ORDERS = ["name", "-name", "-createdAt", "createdAt"] as const;
export type NameOrder = (typeof NAME_ORDERS)[number];

export type NamesSearch = {
  readonly view?: NamesView;
  readonly q?: string;
  readonly type?: RecordType;
  readonly sort?: NameOrder;
};

/** Reads the search of the page about names. */
export function parseNamesSearch(search: Record<string, unknown>): NamesSearch {
  const view = NAMES_VIEWS.find((known) => known === search["view"]);
  const type = RECORD_TYPES.find((known) => known === search["type"]);
  const sort = NAME_ORDERS.find((known) => known === search["sort"]);
  return { ...(view ? { view } : {}), ...parseQ(search), ...(type ? { type } : {}), ...(sort ? { sort } : {}) };
}

/** Who did what an audit event tells. */
export const AUDIT_ACTORS = ["user", "token", "node", "server", "anonymous"] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

export type AuditSearch = { readonly q?: string; readonly network?: string; readonly actor?: AuditActor };

/** Reads the search of the audit log. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const { network } = search;
  const actor = AUDIT_ACTORS.find((known) => known === search["actor"]);
  return {
    ...parseQ(search),
    ...(isId(network) ? { network } : {}),
    ...(actor ? { actor } : {}),
  };
}

export type SetupSearch = { readonly setup?: string };

/** Reads the setup token of the link the server printed. */
export function parseSetupSearch(search: Record<string, unknown>): SetupSearch {
  const token = search["setup"];
  return typeof token === "string" || typeof token === "number" ? { setup: String(token) } : {};
}

/** Parts of the access page. */
export const ACCESS_VIEWS = ["tokens", "people", "account"] as const;
export type AccessView = (typeof ACCESS_VIEWS)[number];

export type AccessSearch = { readonly view?: AccessView };

/** Reads the search of the access page. */
export function parseAccessSearch(search: Record<string, unknown>): AccessSearch {
  const view = ACCESS_VIEWS.find((known) => known === search["view"]);
  return view ? { view } : {};
}

export type LoginSearch = { readonly next?: string };

/** Reads where to go after the login. Only paths of this dashboard are followed, so the link cannot lead elsewhere. */
export function parseLoginSearch(search: Record<string, unknown>): LoginSearch {
  const { next } = search;
  return typeof next === "string" && isOwnPath(next) ? { next } : {};
}

function parseQ({ q }: Record<string, unknown>): { readonly q?: string } {
  // The address may carry a number where one typed digits.
  const text = typeof q === "number" ? String(q) : q;
  return typeof text === "string" && text !== "" ? { q: text.slice(0, SEARCH_LENGTH_MAX) } : {};
}

/** Long enough for every id there is; what is longer came from somebody's keyboard. */
function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 100;
}

/** What the server takes at most. */
const SEARCH_LENGTH_MAX = 100;

function isOwnPath(path: string): boolean {
  return path.startsWith("/") && !path.startsWith("//") && !path.includes("\\");
}

function isFilter(value: unknown): value is PeerFilter {
  return PEER_FILTERS.some((filter) => filter === value);
}

function isPeerSort(value: string): value is PeerSort {
  const column = value.startsWith("-") ? value.slice(1) : value;
  return PEER_SORTS.some((sort) => sort === column);
}
