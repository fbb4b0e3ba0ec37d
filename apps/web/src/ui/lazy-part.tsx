import { type ComponentType, createElement, type FunctionComponent, lazy, Suspense } from "react";

/** A dialog, or another part of a page, whose script comes when it is shown, not with the page. */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  const Loaded = lazy<ComponentType<Props>>(() => load().then((component) => ({ default: component })));
  return function LazyPart(props: Props) {
    return <Suspense>{createElement<Props>(Loaded, props)}</Suspense>;
  };
}
