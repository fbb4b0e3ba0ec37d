import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { NameRecord } from "../../api/types.ts";
import { aGroup, at } from "../../testing/builders.ts";
import { Refusal } from "../../testing/in-memory-link.ts";
import { renderApp } from "../../testing/render-app.tsx";

const PAGE = "/networks/net_home/names";

function aRecord(change: Partial<NameRecord> = {}): NameRecord {
  return {
    id: "rec_1",
    networkId: "net_home",
    name: "printer",
    type: "A",
    value: "192.168.1.9",
    ttlSeconds: 10,
    description: "third floor",
    createdAt: at(60),
    ...change,
  };
}

test("records stand with their whole name; search, type and order are asked of the server", async () => {
  const { user, router, api } = renderApp(`${PAGE}?q=p`, {
    world: { records: [aRecord(), aRecord({ id: "rec_2", name: "@", type: "AAAA", value: "fd00::p" })] },
  });
  const table = await screen.findByRole("table", { name: "Records" });
  expect(await within(table).findByText("printer.weft.internal")).toBeTruthy();
  expect(within(table).getByText("weft.internal")).toBeTruthy();
  expect(within(table).getAllByText("third floor")).toHaveLength(2);
  expect(within(table).getByRole("button", { name: "Copy value 192.168.1.9" })).toBeTruthy();
  expect(screen.getByText("2 records")).toBeTruthy();

  await user.selectOptions(screen.getByRole("combobox", { name: "Type" }), "AAAA");
  await user.selectOptions(screen.getByRole("combobox", { name: "Order" }), "Newest first");

  await waitFor(() => expect(router.state.location.search).toEqual({ q: "p", type: "AAAA", sort: "-createdAt" }));
  await waitFor(() =>
    expect(api.calls.findLast(({ path }) => path === "nameRecords.list")?.input).toMatchObject({
      q: "p",
      type: "AAAA",
      sort: "-createdAt",
    }),
  );
});

test("a record is added, changed and removed; a wrong lifetime is not sent", async () => {
  const { user, world } = renderApp(PAGE);
  await user.click(await screen.findByRole("button", { name: "Add record" }));
  const dialog = await screen.findByRole("dialog", { name: "Add record" });
  await user.type(within(dialog).getByRole("textbox", { name: "Name" }), " nas ");
  await user.type(within(dialog).getByRole("textbox", { name: "Value" }), "192.168.1.7");
  const ttl = within(dialog).getByRole("textbox", { name: "Remembered for, in seconds" });
  const save = within(dialog).getByRole("button", { name: "Save" });
  for (const wrong of ["0", "86401", "1.5", "x"]) {
    await user.clear(ttl);
    await user.type(ttl, wrong);
    expect(save).toHaveProperty("disabled", true);
  }
  await user.clear(ttl);
  await user.type(ttl, "60");
  await user.click(save);
  expect(await screen.findByText("nas was saved. Nodes are applying it.")).toBeTruthy();
  expect(world.records).toMatchObject([{ name: "nas", type: "A", value: "192.168.1.7", ttlSeconds: 60 }]);

  await user.click(await screen.findByRole("button", { name: "Edit nas A" }));
  const edit = await screen.findByRole("dialog", { name: "Edit nas A" });
  await user.selectOptions(within(edit).getByRole("combobox", { name: "Type" }), "CNAME");
  await user.clear(within(edit).getByRole("textbox", { name: "Value" }));
  await user.type(within(edit).getByRole("textbox", { name: "Value" }), "web-1");
  await user.click(within(edit).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(world.records).toMatchObject([{ id: "rec_0", type: "CNAME", value: "web-1" }]));

  await user.click(await screen.findByRole("button", { name: "Remove nas CNAME" }));
  const question = await screen.findByRole("alertdialog", { name: "Remove nas CNAME" });
  expect(question.textContent).toContain("A peer that is called so gets the name.");
  await user.click(within(question).getByRole("button", { name: "Remove nas CNAME" }));
  await waitFor(() => expect(world.records).toEqual([]));
});

test("a refused record keeps its dialog and shows why, with the request", async () => {
  const { user } = renderApp(PAGE, {
    world: { records: [aRecord()] },
    handlers: {
      "nameRecords.update": () => {
        throw new Refusal(409, "name_taken", "a peer is called so");
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Edit printer A" }));
  const dialog = await screen.findByRole("dialog");
  await user.click(within(dialog).getByRole("button", { name: "Save" }));

  const alert = await within(dialog).findByRole("alert");
  expect(alert.textContent).toContain("a peer is called so");
  expect(alert.textContent).toContain("req_test");
});

test("nameservers are added for domains and groups, in the order that was written", async () => {
  const { user, world } = renderApp(`${PAGE}?view=servers`, { world: { groups: [aGroup()] } });
  await user.click(await screen.findByRole("button", { name: "Add nameservers" }));
  const dialog = await screen.findByRole("dialog", { name: "Add nameservers" });
  expect(within(dialog).getByText(/Every question of these hosts/)).toBeTruthy();
  await user.type(within(dialog).getByRole("textbox", { name: "Name" }), "office");
  const servers = within(dialog).getByRole("textbox", { name: "Servers" });
  await user.type(servers, "1.1.1.1 ".repeat(9));
  expect(within(dialog).getByRole("button", { name: "Save" })).toHaveProperty("disabled", true);
  await user.clear(servers);
  await user.type(servers, "10.0.0.54:5353, 10.0.0.53");
  await user.type(within(dialog).getByRole("textbox", { name: "Domains" }), "corp.example");
  await user.click(within(dialog).getByRole("checkbox", { name: "servers" }));
  await user.click(within(dialog).getByRole("button", { name: "Save" }));

  const table = await screen.findByRole("table", { name: "Nameservers" });
  expect(
    within(table)
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent),
  ).toEqual(["10.0.0.54:5353", "10.0.0.53"]);
  expect(world.nameservers).toMatchObject([
    { servers: ["10.0.0.54:5353", "10.0.0.53"], domains: ["corp.example"], groupIds: ["grp_servers"], state: "on" },
  ]);
});

test("the domain is changed after telling what that does", async () => {
  const { user, world } = renderApp(`${PAGE}?view=domain`);
  expect(await screen.findByText(/web-1\.weft\.internal/)).toBeTruthy();
  await user.click(await screen.findByRole("button", { name: "Change" }));
  const dialog = await screen.findByRole("dialog", { name: "Change the domain" });
  const box = within(dialog).getByRole("textbox", { name: "Domain" });
  await user.clear(box);
  await user.type(box, "home.internal");
  expect(within(dialog).getByText(/the old ones are gone/)).toBeTruthy();
  await user.click(within(dialog).getByRole("checkbox", { name: "Answer names on every node" }));
  expect(within(dialog).getByText(/give their hosts' resolvers back/)).toBeTruthy();
  await user.click(within(dialog).getByRole("button", { name: "Save" }));

  await waitFor(() => expect(world.nameSettings).toMatchObject({ domain: "home.internal", state: "off" }));
  expect(await screen.findByText("home.internal")).toBeTruthy();
});

test.each(["records", "servers", "domain"])("who may only look at %s sees no button that changes", async (view) => {
  renderApp(`${PAGE}?view=${view}`, { world: { role: "viewer", records: [aRecord()] } });

  expect(await screen.findByText(/Changing needs the role admin/)).toBeTruthy();
  await waitFor(() => expect(document.querySelector(".panel-loading")).toBeNull());
  expect(screen.queryByRole("button", { name: /^(Add|Change$|Edit|Remove)/ })).toBeNull();
});
