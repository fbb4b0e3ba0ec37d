export const setup = {
  title: "Welcome",
  sentence: "Create the owner of this server. It takes three fields, and this page closes for good afterwards.",
  login: "User name",
  password: "Password",
  passwordHint: (minimum: number) => `At least ${minimum} characters. A few unrelated words work well.`,
  strength: {
    label: "Password strength",
    short: (missing: number) => (missing === 1 ? "1 character more" : `${missing} characters more`),
    weak: "Easy to guess",
    fair: "Fair",
    strong: "Strong",
  },
  networkName: "Network name",
  networkHint: "Your first network. You can rename it and add others later.",
  defaultNetwork: "home",
  submit: "Create owner and network",
  token: "Setup token",
  tokenHint: "The server printed it with the setup link when it started.",
};

export const login = {
  title: "Sign in",
  login: "User name",
  password: "Password",
  submit: "Sign in",
  code: "Code",
  codeHint: "The six digits your authenticator application shows, or a recovery code.",
  with: (provider: string) => `Sign in with ${provider}`,
  returning: "Signing you in",
  backToLogin: "Back to the login",
  loop: "You were sent back here twice. Your browser may refuse this site's cookies: allow them, then sign in again.",
};

export const invite = {
  title: "You are invited",
  sentence: (role: string) => `Choose a user name and a password. Your role will be ${role}.`,
  looking: "Looking at the invite",
  submit: "Create account",
};
