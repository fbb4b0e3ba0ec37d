#!/usr/bin/env node
import { fileURLToPath } from "node:url";

import { main } from "../dist/main.js";

// What a library may still hold open must not keep a finished command.
process.exit(await main(process.argv.slice(2), fileURLToPath(import.meta.url)));
