import type { NamesSearch } from "../../../routes.ts";

/** What each list of the page is given. */
export type NamesViewProps = {
  readonly networkId: string;
  readonly search: NamesSearch;
  readonly onAsk: (search: { readonly [Part in keyof NamesSearch]: NamesSearch[Part] | undefined }) => void;
  readonly mayChange: boolean;
};
