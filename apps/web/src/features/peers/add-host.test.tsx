import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aPeer, at } from "../../testing/builders.ts";
import { type RenderedApp, renderApp } from "../../testing/render-app.tsx";

const THREE = ["a", "b", "c"].map((name) => aPeer({ name }));

/** Opens the page of an empty network and waits until it knows that it is empty. */
async function openFlow(options: Parameters<typeof renderApp>[1] = {}): Promise<RenderedApp> {
  const app = renderApp("/networks/net_home/peers", options);
  await screen.findByText("Waiting for the first host…");
  return app;
}

async function arrive(app: RenderedApp, name: string, change: Parameters<typeof aPeer>[0] = {}): Promise<void> {
  const peer = aPeer({ name, createdAt: at(name === "web-1" ? 20 : 1), ...change });
  await waitFor(() => expect(app.api.listeners("live.network")).toHaveLength(1));
  act(() =>
    app.api
      .listeners("live.network")
      .at(0)
      ?.send({ kind: "peers", peers: [peer] }),
  );
}

const pings = (app: RenderedApp): unknown[] =>
  app.api.calls.filter((call) => call.path === "peers.ping").map((call) => call.input);

test("UI-5 an empty network is the add-host flow with one ready command, its validity and its limit", async () => {
  const app = renderApp("/networks/net_home/peers");

  const line = await screen.findByRole("region", { name: "Join line" });

  await within(line).findByText(
    'f=$(mktemp) && curl http://192.0.2.1:7400/install.sh -o "$f" && sh "$f" weft_enr_SECRET.PIN',
  );
  expect(within(line).getByText("sudo npx --no weft join http://192.0.2.1:7400 weft_enr_SECRET.PIN")).toBeTruthy();
  expect(within(line).getByRole("button", { name: "Copy join line" })).toBeTruthy();
  expect(within(line).getByText("Valid for 1 h, for up to 10 hosts.")).toBeTruthy();
  expect(app.api.calls.find((call) => call.path === "enrolmentKeys.create")?.input).toEqual({
    networkId: "net_home",
    usesMax: 10,
    expiresInSeconds: 3_600,
  });
});

test("only one key is made, however often the page renders", async () => {
  const app = await openFlow();
  await screen.findByText(/curl .*weft_enr_SECRET/);

  await arrive(app, "web-1");
  await screen.findByRole("link", { name: "web-1" });

  expect(app.api.calls.filter((call) => call.path === "enrolmentKeys.create")).toHaveLength(1);
});

test("hosts appear by themselves with their fingerprint; the second one triggers the first ping", async () => {
  const app = await openFlow();

  await arrive(app, "web-1");
  expect(await screen.findByText("7f3a:91c2:0be4:d815")).toBeTruthy();
  expect(screen.getByText("One more, and the first ping runs by itself.")).toBeTruthy();
  expect(pings(app)).toEqual([]);

  await arrive(app, "db-1");
  const region = await screen.findByRole("region", { name: "First ping" });
  expect(await within(region).findByText("direct path · 412 µs")).toBeTruthy();
  expect(within(region).getByText("db-1 reaches web-1")).toBeTruthy();
  expect(region.dataset["result"]).toBe("good");
  expect(pings(app)).toEqual([{ peerId: "peer_db-1", targetPeerId: "peer_web-1", count: 3 }]);
});

test("the ping waits until both hosts run on the newest map", async () => {
  const app = await openFlow();
  await arrive(app, "web-1");

  await arrive(app, "db-1", { map: { state: "pending", sequence: 8, appliedAfterMs: null } });
  expect(await screen.findByText("Waiting until both hosts have applied the network map…")).toBeTruthy();
  expect(pings(app)).toEqual([]);

  await arrive(app, "db-1");
  expect(await screen.findByText("db-1 reaches web-1")).toBeTruthy();
});

test("a ping without an answer says what to look at and can be repeated", async () => {
  let answers = 0;
  const app = await openFlow({
    handlers: {
      "peers.ping": () => {
        answers += 1;
        const received = answers > 4 ? 3 : 0;
        return {
          sent: 3,
          received,
          rttMicroseconds: received ? [500] : [],
          endpoint: null,
          path: received ? "direct" : "none",
        };
      },
    },
  });
  await arrive(app, "web-1");
  await arrive(app, "db-1");

  expect(await screen.findByText(/A firewall may block UDP/, undefined, { timeout: 6_000 })).toBeTruthy();
  await app.user.click(screen.getByRole("button", { name: "Ping again" }));

  expect(await screen.findByText("direct path · 500 µs")).toBeTruthy();
});

test("the flow stays until the reader leaves it for the table", async () => {
  const app = await openFlow();
  await arrive(app, "web-1");
  await arrive(app, "db-1");
  await screen.findByText("db-1 reaches web-1");

  await app.user.click(screen.getByRole("button", { name: "Show peers" }));

  expect(await screen.findByRole("table", { name: "Peers" })).toBeTruthy();
});

test("further hosts are added with the same flow, which lists only the new ones", async () => {
  const app = renderApp("/networks/net_home/peers/add", {
    world: { peers: THREE },
  });
  await waitFor(() => expect(app.api.listeners("live.network")).toHaveLength(1));
  act(() => app.api.listeners("live.network").at(0)?.send({ kind: "peers", peers: THREE }));
  expect(await screen.findByRole("heading", { name: "Add a host" })).toBeTruthy();
  const list = await screen.findByRole("list", { name: "Hosts that arrived" });
  expect(within(list).queryByText("a")).toBeNull();

  await arrive(app, "new-1");

  expect(await within(list).findByText("new-1")).toBeTruthy();
  expect(await screen.findByText(/^new-1 reaches /)).toBeTruthy();
});

test("members of a large network that are heard of in a later part are not taken for new hosts", async () => {
  const app = renderApp("/networks/net_home/peers/add", { world: { peers: THREE } });
  await waitFor(() => expect(app.api.listeners("live.network")).toHaveLength(1));
  act(() => app.api.listeners("live.network").at(0)?.send({ kind: "peers", peers: THREE }));
  const list = await screen.findByRole("list", { name: "Hosts that arrived" });

  await arrive(app, "old-501", { createdAt: at(86_400) });
  await arrive(app, "new-1");

  expect(await within(list).findByText("new-1")).toBeTruthy();
  expect(within(list).queryByText("old-501")).toBeNull();
});

test("an arrival is read aloud once; the list with its ticking ages is not", async () => {
  const app = await openFlow();

  await arrive(app, "web-1");

  const list = await screen.findByRole("list", { name: "Hosts that arrived" });
  await within(list).findByText("web-1");
  const status = screen.getByText("web-1 joined.").closest("[role=status]");
  expect(status?.textContent).toContain("One more, and the first ping runs by itself.");
  expect(status?.querySelector("time")).toBeNull();
  expect(list.closest("[aria-live]")).toBeNull();
});

test("a server without an archive says what to type where the agent is", async () => {
  const joinCommand = "weft join http://192.0.2.1:7400 weft_enr_SECRET.PIN";
  const key = {
    id: "key_1",
    networkId: "net_home",
    name: "",
    hint: "weft_enr_SECR",
    state: "valid" as const,
    uses: 0,
    usesMax: 10,
    expiresAt: at(-60),
    createdAt: at(0),
    createdBy: null,
    groupIds: [],
    ephemeralSeconds: null,
    approval: "network" as const,
    key: "weft_enr_SECRET.PIN",
  };
  await openFlow({
    handlers: { "enrolmentKeys.create": () => ({ ...key, joinLine: joinCommand, joinCommand }) },
  });

  expect(await screen.findByText(`sudo ${joinCommand}`)).toBeTruthy();
  expect(screen.getByText(/this server was built without one/)).toBeTruthy();
});
