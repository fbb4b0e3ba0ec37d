import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

/** Shows one sentence about a change that was made. */
export type Notify = (sentence: string) => void;

/** A quiet line at the bottom that confirms changes and is read aloud. */
export function NoticeProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [notice, setNotice] = useState<{ readonly sentence: string; readonly count: number } | null>(null);
  const notify = useCallback<Notify>((sentence) => {
    setNotice((before) => ({ sentence, count: (before?.count ?? 0) + 1 }));
  }, []);

  useEffect(() => {
    if (!notice) return;
    const timer = setTimeout(() => setNotice(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);

  return (
    <NoticeContext.Provider value={notify}>
      {children}
      <div className="notices" role="status">
        {notice ? (
          <p className="notice" key={notice.count}>
            <Icon name="check" size={16} />
            {notice.sentence}
          </p>
        ) : null}
      </div>
    </NoticeContext.Provider>
  );
}

/** Gives the function that confirms a change. */
export function useNotify(): Notify {
  return useContext(NoticeContext);
}

const NoticeContext = createContext<Notify>(() => undefined);
const SHOWN_MS = 5_000;
