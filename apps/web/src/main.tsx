import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createApiClient } from "./api/client.ts";
import { createApiOptions, createQueryClient } from "./api/context.ts";
import { createLiveHub } from "./api/live/context.ts";
import { App } from "./app.tsx";
import { createAppRouter } from "./router.tsx";
import { trpcPath } from "./routes.ts";
import { browserClock } from "./ui/clock.tsx";
import "./styles/index.css";

const place = document.getElementById("app");
if (!place) throw new Error("index.html has no element #app");

const client = createApiClient(trpcPath);
const queryClient = createQueryClient();
const router = createAppRouter({ context: { queryClient, api: createApiOptions(client, queryClient) } });

createRoot(place).render(
  <StrictMode>
    <App client={client} queryClient={queryClient} router={router} liveHub={createLiveHub()} clock={browserClock} />
  </StrictMode>,
);
