export type { Call, CallField, CallTable } from "./call-table.ts";
export { createClient, type Client, type ClientFailure, type ClientOptions } from "./client.ts";
export * from "./generated.ts";
