import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { NotFound, PageError, PagePending } from "./layout/page-states.tsx";
import { Shell } from "./layout/shell.tsx";
import {
  parseAccessSearch,
  parseAuditSearch,
  parseDiagnoseSearch,
  parseExpirationsSearch,
  parseLoginSearch,
  parseNamesSearch,
  parsePeerSearch,
  parsePeersSearch,
  parseRoutesSearch,
  parseSetupSearch,
  paths,
} from "./routes.ts";
import { openLastNetwork, requireNoOwner, requireOwner, requireSession, type RouterContext } from "./session.ts";

const root = createRootRouteWithContext<RouterContext>()({ notFoundComponent: NotFound });

const setup = createRoute({
  getParentRoute: () => root,
  path: paths.setup,
  validateSearch: parseSetupSearch,
  beforeLoad: ({ context }) => requireNoOwner(context),
  component: lazyRouteComponent(() => import("./features/setup/page.tsx"), "SetupPage"),
});

const login = createRoute({
  getParentRoute: () => root,
  path: paths.login,
  validateSearch: parseLoginSearch,
  beforeLoad: ({ context }) => requireOwner(context),
  component: lazyRouteComponent(() => import("./features/login/page.tsx"), "LoginPage"),
});

const loginCallback = createRoute({
  getParentRoute: () => root,
  path: paths.loginCallback,
  component: lazyRouteComponent(() => import("./features/login/callback-page.tsx"), "LoginCallbackPage"),
});

const invite = createRoute({
  getParentRoute: () => root,
  path: paths.invite,
  component: lazyRouteComponent(() => import("./features/invite/page.tsx"), "InvitePage"),
});

const client = createRoute({
  getParentRoute: () => root,
  path: paths.client,
  component: lazyRouteComponent(() => import("./features/client/page.tsx"), "ClientPage"),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: ({ context, location }) => requireSession(context, location.href),
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => shell,
  path: paths.home,
  beforeLoad: ({ context }) => openLastNetwork(context),
});

const networks = createRoute({
  getParentRoute: () => shell,
  path: paths.networks,
  component: lazyRouteComponent(() => import("./features/networks/page.tsx"), "NetworksPage"),
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: paths.overview,
  component: lazyRouteComponent(() => import("./features/overview/page.tsx"), "OverviewPage"),
});

const peers = createRoute({
  getParentRoute: () => shell,
  path: paths.peers,
  validateSearch: parsePeersSearch,
  component: lazyRouteComponent(() => import("./features/peers/page.tsx"), "PeersPage"),
});

const addHost = createRoute({
  getParentRoute: () => shell,
  path: paths.addHost,
  component: lazyRouteComponent(() => import("./features/peers/add-host-page.tsx"), "AddHostPage"),
});

const peer = createRoute({
  getParentRoute: () => shell,
  path: paths.peer,
  validateSearch: parsePeerSearch,
  component: lazyRouteComponent(() => import("./features/peers/peer-page.tsx"), "PeerPage"),
});

const policy = createRoute({
  getParentRoute: () => shell,
  path: paths.policy,
  component: lazyRouteComponent(() => import("./features/policy/page.tsx"), "PolicyPage"),
});

const routes = createRoute({
  getParentRoute: () => shell,
  path: paths.routes,
  validateSearch: parseRoutesSearch,
  component: lazyRouteComponent(() => import("./features/routes/page.tsx"), "RoutesPage"),
});

const names = createRoute({
  getParentRoute: () => shell,
  path: paths.names,
  validateSearch: parseNamesSearch,
  component: lazyRouteComponent(() => import("./features/names/page.tsx"), "NamesPage"),
});

const diagnose = createRoute({
  getParentRoute: () => shell,
  path: paths.diagnose,
  validateSearch: parseDiagnoseSearch,
  component: lazyRouteComponent(() => import("./features/diagnose/page.tsx"), "DiagnosePage"),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: paths.audit,
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import("./features/audit/page.tsx"), "AuditPage"),
});

const expirations = createRoute({
  getParentRoute: () => shell,
  path: paths.expirations,
  validateSearch: parseExpirationsSearch,
  component: lazyRouteComponent(() => import("./features/expirations/page.tsx"), "ExpirationsPage"),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: paths.settings,
  component: lazyRouteComponent(() => import("./features/settings/page.tsx"), "SettingsPage"),
});

const access = createRoute({
  getParentRoute: () => shell,
  path: paths.access,
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./features/access/page.tsx"), "AccessPage"),
});

const routeTree = root.addChildren([
  setup,
  login,
  loginCallback,
  invite,
  client,
  shell.addChildren([
    home,
    networks,
    overview,
    peers,
    addHost,
    peer,
    policy,
    routes,
    names,
    diagnose,
    settings,
    access,
    audit,
    expirations,
  ]),
]);

/** Makes the router; tests give it a memory history. */
export function createAppRouter(options: { readonly context: RouterContext; readonly history?: RouterHistory }) {
  return createRouter({
    routeTree,
    context: options.context,
    ...(options.history ? { history: options.history } : {}),
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: PagePending,
    defaultErrorComponent: PageError,
    scrollRestoration: true,
  });
}

export type RouterHistory = NonNullable<Parameters<typeof createRouter>[0]["history"]>;

export type AppRouterInstance = ReturnType<typeof createAppRouter>;

declare module "@tanstack/react-router" {
  interface Register {
    router: AppRouterInstance;
  }
}
