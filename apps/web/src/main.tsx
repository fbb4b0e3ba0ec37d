import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createApiClient } from "./api/client.ts";
import { App } from "./app.tsx";
import { createDashboard } from "./dashboard.ts";
import { trpcPath } from "./routes.ts";
import { browserClock } from "./ui/clock.tsx";
import "./styles/index.css";

const place = document.getElementById("app");
if (!place) throw new Error("index.html has no element #app");

createRoot(place).render(
  <StrictMode>
    <App dashboard={createDashboard(createApiClient(trpcPath))} clock={browserClock} />
  </StrictMode>,
);
