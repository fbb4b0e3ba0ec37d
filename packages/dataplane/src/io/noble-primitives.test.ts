import { describe } from "vitest";
import { primitivesContract } from "../contract/primitives-contract.ts";
import { createNoblePrimitives } from "./noble-primitives.ts";

describe("noble primitives", () => primitivesContract(createNoblePrimitives()));
