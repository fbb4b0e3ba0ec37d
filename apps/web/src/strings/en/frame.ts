export const frame = {
  product: "weft",
  home: "weft, to the start page",
  skip: "Skip to content",
  navigation: "Main navigation",
  openNavigation: "Open navigation",
  entries: {
    overview: "Overview",
    peers: "Peers",
    policy: "Policy",
    diagnose: "Diagnose",
    access: "Access",
    audit: "Audit",
    settings: "Settings",
  },
  network: (name: string) => `Network ${name}, switch`,
  chooseNetwork: "Choose a network",
  user: (login: string) => `Signed in as ${login}`,
  logOut: "Sign out",
  theme: { label: (choice: string) => `Theme: ${choice}`, system: "As the system", light: "Light", dark: "Dark" },
  version: (version: string) => `weft ${version}`,
  api: "API",
  live: {
    connecting: "connecting to live data",
    live: "live",
    paused: (ago: string) => `live data paused ${ago} ago`,
  },
  update: {
    normal: (version: string) => `weft ${version} is out.`,
    security: (version: string) => `weft ${version} closes a security hole.`,
    read: "What is new",
    runs: (version: string) => `(this server runs ${version}; nothing is installed by itself)`,
  },
  banner: {
    server:
      "The server does not answer. The mesh keeps working: tunnels need no server. This page reconnects by itself.",
    database: "The server cannot reach its database. The mesh keeps working; changes have to wait.",
  },
};
