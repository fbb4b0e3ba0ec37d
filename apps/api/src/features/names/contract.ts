import { z } from "zod";
import {
  GroupIdSchema,
  listOutput,
  NameRecordIdSchema,
  NameserversIdSchema,
  NetworkIdSchema,
  TimeSchema,
} from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const DomainSchema = z.string().min(1).max(201);
const GroupIdsSchema = z.array(GroupIdSchema).max(100);
const DescriptionSchema = z.string().max(1_000);

const settings = {
  state: z.enum(["on", "off"]).describe("Off: nodes answer no names and leave their hosts alone."),
  domain: DomainSchema.describe("What names of this network end in."),
  searchDomains: z.array(DomainSchema).max(5).describe("Tried behind short names, after the domain."),
  leftAloneGroupIds: GroupIdsSchema.describe("Nodes of these groups leave the resolver of their host alone."),
};

const SettingsSchema = z.strictObject({ networkId: NetworkIdSchema, ...settings }).meta({ id: "NameSettings" });

const record = {
  name: z.string().min(1).max(201).describe("Below the domain of the network; @ is the domain itself."),
  type: z.enum(["A", "AAAA", "CNAME"]),
  value: z
    .string()
    .min(1)
    .max(201)
    .describe("An address; for CNAME a name, where one label is a name of this network."),
  ttlSeconds: z.int().min(1).max(86_400).describe("How long others may remember the answer; nodes say at most 10."),
  description: DescriptionSchema,
};

const RecordSchema = z
  .strictObject({ id: NameRecordIdSchema, networkId: NetworkIdSchema, ...record, createdAt: TimeSchema })
  .meta({ id: "NameRecord" });

const nameservers = {
  name: z.string().trim().min(1).max(63),
  description: DescriptionSchema,
  servers: z
    .array(z.string().max(60))
    .min(1)
    .max(8)
    .describe("Addresses, with a port where it is not 53; asked in this order."),
  domains: z.array(DomainSchema).max(50).describe("What they are asked about; none means everything."),
  groupIds: GroupIdsSchema.describe("Whose nodes use them; none means all."),
  state: z.enum(["on", "off"]),
};

const NameserversSchema = z
  .strictObject({ id: NameserversIdSchema, networkId: NetworkIdSchema, ...nameservers, createdAt: TimeSchema })
  .meta({ id: "NameserverGroup" });

export const recordsSpec = listSpec({
  name: "nameRecords",
  orders: ["name", "-name", "createdAt", "-createdAt"],
  filters: { type: record.type },
  search: "Part of a name, value or description.",
});

export const nameserversSpec = listSpec({
  name: "nameservers",
  orders: ["name", "-name", "createdAt", "-createdAt"],
  filters: { state: nameservers.state },
  search: "Part of a name or description.",
});

const reading = { kind: "role", role: "viewer", scope: "dns:read" } as const;
const access = { kind: "role", role: "admin", scope: "dns:write" } as const;
const byNetwork = { networkId: NetworkIdSchema };

export const nameSettingsContract = {
  get: query({
    summary: "Shows what names of a network end in, and who uses them",
    rest: { method: "GET", path: "/networks/{networkId}/dns/settings", status: 200, tagged: "nameSettings" },
    access: reading,
    input: z.strictObject(byNetwork),
    output: SettingsSchema,
  }),
  replace: mutation({
    summary: "Replaces the settings of a network's names",
    rest: {
      method: "PUT",
      path: "/networks/{networkId}/dns/settings",
      status: 200,
      tagged: "nameSettings",
      ifMatch: "required",
    },
    access,
    input: z.strictObject({ ...byNetwork, ...settings }),
    output: SettingsSchema,
  }),
};

const recordPath = "/dns/records/{recordId}";

export const nameRecordsContract = {
  list: query({
    summary: "Lists the names that administrators gave",
    rest: { method: "GET", path: "/networks/{networkId}/dns/records", status: 200 },
    access: reading,
    list: recordsSpec,
    input: z.strictObject({ ...byNetwork, ...listFields(recordsSpec) }),
    output: listOutput(RecordSchema),
  }),
  get: query({
    summary: "Shows one record",
    rest: { method: "GET", path: recordPath, status: 200, tagged: "nameRecord" },
    access: reading,
    input: z.strictObject({ recordId: NameRecordIdSchema }),
    output: RecordSchema,
  }),
  create: mutation({
    summary: "Gives a name to an address or to another name; who may not see a peer gets no record that points at it",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/dns/records",
      status: 201,
      location: "/dns/records/{id}",
      tagged: "nameRecord",
    },
    access,
    input: z.strictObject({
      ...byNetwork,
      ...record,
      ttlSeconds: record.ttlSeconds.default(10),
      description: record.description.default(""),
    }),
    output: RecordSchema,
  }),
  update: mutation({
    summary: "Changes a record",
    rest: { method: "PATCH", path: recordPath, status: 200, tagged: "nameRecord", ifMatch: "required" },
    access,
    input: z.strictObject({
      recordId: NameRecordIdSchema,
      name: record.name.optional(),
      type: record.type.optional(),
      value: record.value.optional(),
      ttlSeconds: record.ttlSeconds.optional(),
      description: record.description.optional(),
    }),
    output: RecordSchema,
  }),
  remove: mutation({
    summary: "Removes a record",
    rest: { method: "DELETE", path: recordPath, status: 204, ifMatch: "honoured" },
    access,
    input: z.strictObject({ recordId: NameRecordIdSchema }),
    output: NoOutput,
  }),
};

const nameserversPath = "/dns/nameservers/{nameserversId}";

export const nameserversContract = {
  list: query({
    summary: "Lists the nameserver groups of a network",
    rest: { method: "GET", path: "/networks/{networkId}/dns/nameservers", status: 200 },
    access: reading,
    list: nameserversSpec,
    input: z.strictObject({ ...byNetwork, ...listFields(nameserversSpec) }),
    output: listOutput(NameserversSchema),
  }),
  get: query({
    summary: "Shows one nameserver group",
    rest: { method: "GET", path: nameserversPath, status: 200, tagged: "nameservers" },
    access: reading,
    input: z.strictObject({ nameserversId: NameserversIdSchema }),
    output: NameserversSchema,
  }),
  create: mutation({
    summary: "Lets nodes ask servers about some domains, or about everything",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/dns/nameservers",
      status: 201,
      location: "/dns/nameservers/{id}",
      tagged: "nameservers",
    },
    access,
    input: z.strictObject({
      ...byNetwork,
      ...nameservers,
      description: nameservers.description.default(""),
      domains: nameservers.domains.default([]),
      groupIds: nameservers.groupIds.default([]),
      state: nameservers.state.default("on"),
    }),
    output: NameserversSchema,
  }),
  update: mutation({
    summary: "Changes a nameserver group",
    rest: { method: "PATCH", path: nameserversPath, status: 200, tagged: "nameservers", ifMatch: "required" },
    access,
    input: z.strictObject({
      nameserversId: NameserversIdSchema,
      name: nameservers.name.optional(),
      description: nameservers.description.optional(),
      servers: nameservers.servers.optional(),
      domains: nameservers.domains.optional(),
      groupIds: nameservers.groupIds.optional(),
      state: nameservers.state.optional(),
    }),
    output: NameserversSchema,
  }),
  remove: mutation({
    summary: "Removes a nameserver group",
    rest: { method: "DELETE", path: nameserversPath, status: 204, ifMatch: "honoured" },
    access,
    input: z.strictObject({ nameserversId: NameserversIdSchema }),
    output: NoOutput,
  }),
};
