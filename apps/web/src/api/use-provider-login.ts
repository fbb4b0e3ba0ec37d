import { useMutation } from "@tanstack/react-query";
import { useTRPC } from "./context.ts";
import { providerLogin } from "./provider-login.ts";

export type ProviderLoginControl = {
  readonly error: unknown;
  readonly isPending: boolean;
  readonly start: (providerId: string, then: { readonly next: string | null; readonly invite: string | null }) => void;
};

/** Sends the browser to a provider, and keeps what must be there when it is back. */
export function useProviderLogin(): ProviderLoginControl {
  const trpc = useTRPC();
  const begin = useMutation(trpc.identityProviders.begin.mutationOptions());
  return {
    error: begin.error,
    isPending: begin.isPending,
    start: (providerId, then) => {
      begin.mutate(
        { identityProviderId: providerId },
        {
          onSuccess: ({ url, loginToken }) => {
            providerLogin.keep({ loginToken, ...then });
            window.location.assign(url);
          },
        },
      );
    },
  };
}
