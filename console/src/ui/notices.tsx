import { createContext, use, useCallback, useMemo, useState, type ReactNode } from "react"
import { serverNow, useServerTime } from "../api/clock.ts"
import { useWords } from "../words/words.tsx"
import type { IconName } from "./icon-paths.ts"
import { Icon } from "./icon.tsx"
import { Marked } from "./marked.tsx"
import { Ring } from "./ring.tsx"

interface Notice {
  readonly id: number
  readonly icon: IconName
  readonly text: string
  readonly until: number
  readonly ms: number
  readonly action?: { readonly label: string; readonly counts: boolean; readonly run: () => void }
}

type Tell = (notice: Omit<Notice, "id" | "until">) => void

const Context = createContext<{ notices: readonly Notice[]; tell: Tell; drop: (id: number) => void } | undefined>(
  undefined,
)

export function NoticesProvider({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const drop = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), [])
  const tell = useCallback<Tell>(
    (notice) => {
      const id = Math.random()
      setNotices((all) => [...all.slice(-2), { ...notice, id, until: serverNow() + notice.ms }])
      setTimeout(() => drop(id), notice.ms)
    },
    [drop],
  )
  const value = useMemo(() => ({ notices, tell, drop }), [notices, tell, drop])
  return <Context value={value}>{children}</Context>
}

function useNotices() {
  const value = use(Context)
  if (value === undefined) throw new Error("NoticesProvider is missing.")
  return value
}

/** Says something beside the page for a while. It never covers a card. */
export const useTell = () => useNotices().tell

export function Notices() {
  const { notices, drop } = useNotices()
  return (
    <div className="notices" role="status">
      {notices.map((notice) => (
        <OneNotice key={notice.id} notice={notice} drop={drop} />
      ))}
    </div>
  )
}

function OneNotice({ notice, drop }: { notice: Notice; drop: (id: number) => void }) {
  const words = useWords()
  const { icon, text, action } = notice
  return (
    <div className="toast">
      <Icon name={icon} />
      <p className="grow">
        <Marked text={text} />
      </p>
      {action === undefined ? (
        <button type="button" className="ib" aria-label={words.frame.close} onClick={() => drop(notice.id)}>
          <Icon name="x" small />
        </button>
      ) : (
        <button
          type="button"
          className="btn btn-s"
          onClick={() => {
            drop(notice.id)
            action.run()
          }}
        >
          {action.label}
          {action.counts && <Left until={notice.until} of={notice.ms} />}
        </button>
      )}
    </div>
  )
}

function Left({ until, of }: { until: number; of: number }) {
  const words = useWords()
  const left = Math.max(0, Math.min(of, until - useServerTime()))
  return (
    <>
      <Ring share={left / of} />
      <span className="num">{words.time.seconds(Math.ceil(left / 1000))}</span>
    </>
  )
}
