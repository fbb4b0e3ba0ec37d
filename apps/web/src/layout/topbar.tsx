import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { useTRPC } from "../api/context.ts";
import { toProblem } from "../api/error-text.ts";
import { useStore } from "../api/live/use-live.ts";
import { paths } from "../routes.ts";
import { strings } from "../strings/index.ts";
import { IconButton } from "../ui/button.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { useNotify } from "../ui/notice.tsx";
import { NetworkSwitcher } from "./network-switcher.tsx";
import { chooseTheme, theme, THEME_CHOICES, type ThemeChoice } from "./theme.ts";

export type TopbarProps = { readonly networkId: string | null; readonly onMenu: () => void };

/** The bar above every page: where one is, the theme, the user. */
export function Topbar({ networkId, onMenu }: TopbarProps): ReactNode {
  return (
    <header className="topbar">
      <span className="topbar-menu">
        <IconButton icon="menu" label={strings.frame.openNavigation} onPress={onMenu} />
      </span>
      <NetworkSwitcher networkId={networkId} />
      <div className="topbar-end">
        <ThemeMenu />
        <Suspense>
          <UserMenu />
        </Suspense>
      </div>
    </header>
  );
}

function ThemeMenu(): ReactNode {
  const choice = useStore(theme);
  return (
    <Menu
      label={strings.frame.theme.label(strings.frame.theme[choice])}
      trigger={<Icon name={THEME_ICONS[choice]} />}
      chosen={choice}
      actions={THEME_CHOICES.map((option) => ({
        id: option,
        label: strings.frame.theme[option],
        icon: THEME_ICONS[option],
        onAction: () => chooseTheme(option),
      }))}
    />
  );
}

function UserMenu(): ReactNode {
  const trpc = useTRPC();
  const router = useRouter();
  const navigate = useNavigate();
  const notify = useNotify();
  const { data } = useSuspenseQuery(trpc.sessions.current.queryOptions());

  const logOut = useMutation(
    trpc.sessions.logout.mutationOptions({
      onSuccess: async () => {
        router.options.context.queryClient.clear();
        await navigate({ to: paths.login });
      },
      onError: (error) => notify(toProblem(error).sentence),
    }),
  );

  return (
    <Menu
      label={strings.frame.user(data.user.login)}
      look="text"
      trigger={
        <>
          <Icon name="user" />
          <span className="topbar-user" dir="auto">
            {data.user.login}
          </span>
        </>
      }
      actions={[{ id: "logout", label: strings.frame.logOut, icon: "logout", onAction: () => logOut.mutate() }]}
    />
  );
}

const THEME_ICONS: Record<ThemeChoice, IconName> = { system: "system", light: "sun", dark: "moon" };
