import { z } from "zod";
import { ROLES } from "./access.ts";
import { UserIdSchema } from "./common-schemas.ts";

export const LoginSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\s\p{Cc}]+$/u, "must not contain spaces");

export const NewPasswordSchema = z.string().min(10, "needs at least 10 characters").max(1_000);

export const UserSchema = z
  .strictObject({ id: UserIdSchema, login: z.string(), role: z.enum(ROLES) })
  .meta({ id: "User" });
