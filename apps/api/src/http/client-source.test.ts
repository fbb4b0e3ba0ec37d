import { expect, test } from "vitest";
import { clientSource } from "./client-source.ts";
import { openApiDocument } from "./openapi.ts";

test("F-F4 the client package knows every operation as the document describes it", async () => {
  const text = clientSource(openApiDocument("0.0.0"));

  await expect(text).toMatchFileSnapshot("../../../../packages/client/src/generated.ts");
});

test("types follow their schemas", () => {
  const schema = {
    type: "object",
    required: ["id"],
    properties: {
      id: { type: "string" },
      state: { enum: ["on", "off"] },
      count: { anyOf: [{ type: "integer" }, { type: "null" }] },
      list: { type: "array", items: { anyOf: [{ $ref: "#/components/schemas/Thing" }, { const: 7 }] } },
      "odd-name": { type: "object", additionalProperties: { type: "boolean" } },
    },
  };
  const text = clientSource({ paths: {}, components: { schemas: { Thing: schema } } });

  expect(text).toContain(
    'export type Thing = { readonly id: string; readonly state?: ("on" | "off"); readonly count?: (number | null); ' +
      'readonly list?: readonly (Thing | 7)[]; readonly "odd-name"?: Record<string, boolean> };',
  );
});
