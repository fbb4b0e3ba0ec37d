import { createMemoryHistory } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { createTRPCClient } from "@trpc/client";
import type { AppRouter } from "../api/types.ts";
import { App } from "../app.tsx";
import { createDashboard } from "../dashboard.ts";
import type { AppRouterInstance } from "../router.tsx";
import { NOW } from "./builders.ts";
import { createInMemoryLink, type Handlers, type InMemoryLink } from "./in-memory-link.ts";
import { aWorld, worldHandlers } from "./in-memory-api.ts";
import type { World } from "./world.ts";

export type RenderedApp = {
  readonly world: World;
  readonly api: InMemoryLink;
  readonly router: AppRouterInstance;
  readonly user: UserEvent;
};

export type RenderAppOptions = { readonly world?: Partial<World>; readonly handlers?: Handlers };

/** Renders the whole dashboard at a path, over a control plane in memory. */
export function renderApp(path: string, options: RenderAppOptions = {}): RenderedApp {
  const world = aWorld(options.world);
  const api = createInMemoryLink({ ...worldHandlers(world), ...options.handlers });
  const client = createTRPCClient<AppRouter>({ links: [api.link] });
  const dashboard = createDashboard(client, createMemoryHistory({ initialEntries: [path] }));
  render(<App dashboard={dashboard} clock={{ nowMs: () => NOW }} />);
  return { world, api, router: dashboard.router, user: userEvent.setup() };
}
