import { z } from "zod";

/** What the supervisor tells the stage, one JSON object a line. */
export const ToStageSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("join"), key: z.string(), hosts: z.array(z.string()) }),
  z.object({ kind: z.literal("traffic"), from: z.string(), to: z.string(), address: z.string() }),
]);
export type ToStage = z.infer<typeof ToStageSchema>;

/** What the stage tells the supervisor, one JSON object a line. */
export const FromStageSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  z.object({ kind: z.literal("joining"), host: z.string() }),
  z.object({ kind: z.literal("flowing") }),
  z.object({ kind: z.literal("failed"), reason: z.string() }),
]);
export type FromStage = z.infer<typeof FromStageSchema>;
