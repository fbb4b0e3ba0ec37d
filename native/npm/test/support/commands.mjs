// The encoder of the examples serves the tests, too; products use the one of packages/dataplane.
export * from "../../examples/commands.mjs";
