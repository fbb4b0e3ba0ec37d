import { z } from "zod";

/** Query parameters are text; numbers and booleans become what the input schema says, all else stays for it to refuse. */
export function typedQuery(schema: z.ZodType, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = shapeOf(schema);
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, typed(fields[name], value)]));
}

/** Fields of an input schema; none for operations that take nothing. */
export function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? inner.shape : {};
}

/** The schema below defaults and `optional`. */
function unwrap(schema: z.ZodType): z.ZodType {
  let inner: unknown = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    inner = inner.unwrap();
  }
  if (!(inner instanceof z.ZodType)) throw new Error("wrappers of this package hold a schema");
  return inner;
}

function typed(field: z.ZodType | undefined, value: unknown): unknown {
  if (!field || typeof value !== "string") return value;
  const inner = unwrap(field);
  if (inner instanceof z.ZodNumber && DECIMAL.test(value)) return Number(value);
  if (inner instanceof z.ZodBoolean && (value === "true" || value === "false")) return value === "true";
  return value;
}

const DECIMAL = /^-?\d{1,15}(\.\d+)?$/;
