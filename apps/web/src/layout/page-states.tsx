import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { toProblem } from "../api/error-text.ts";
import { paths } from "../routes.ts";
import { strings } from "../strings/index.ts";
import { Page } from "../ui/page.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel } from "../ui/panels.tsx";

/** Shown while a page's code or checks take longer than a moment. */
export function PagePending(): ReactNode {
  return (
    <div className="page">
      <LoadingPanel label={strings.common.loading} />
    </div>
  );
}

/** Shown when a page broke or its checks failed. */
export function PageError({ error, reset }: ErrorComponentProps): ReactNode {
  const router = useRouter();
  const retry = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title={strings.errors.title}>
      <ProblemPanel problem={toProblem(error)} onRetry={retry} />
    </Page>
  );
}

/** Shown for a path that leads nowhere. */
export function NotFound(): ReactNode {
  return (
    <Page title={strings.errors.notFound}>
      <EmptyPanel title={strings.errors.notFoundHint}>
        <Link to={paths.home}>{strings.frame.home}</Link>
      </EmptyPanel>
    </Page>
  );
}
