import { Modal } from "@mantine/core"
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from "react"
import { useCommandKeys } from "../answer/use-guard.ts"
import { post } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"

interface Freeze {
  /** Asks first, with room for a reason: everyone, or one agent. */
  readonly ask: (agentId?: string) => void
  /** Freezes at once. It only stops things, and thaw is in the notice. */
  readonly freeze: (agentId?: string, because?: string) => void
  readonly thaw: (agentId?: string) => void
}

const Context = createContext<Freeze | undefined>(undefined)

export function useFreeze(): Freeze {
  const value = use(Context)
  if (value === undefined) throw new Error("FreezeProvider is missing.")
  return value
}

export function FreezeProvider({ children }: { children: ReactNode }) {
  const words = useWords()
  const tell = useTell()
  const problemText = useProblemText()
  const [asked, setAsked] = useState<{ agentId: string | undefined }>()

  const change = useCallback(
    async (path: string, body: object, done: Parameters<typeof tell>[0]) => {
      try {
        await post(path, body)
        await queries.invalidateQueries({ queryKey: ["me"] })
        tell(done)
      } catch (error) {
        tell({ icon: "alert-triangle", text: problemText(error), ms: 12_000 })
      }
    },
    [tell, problemText],
  )
  const value = useMemo<Freeze>(() => {
    const thaw = (agentId?: string) =>
      void change("/v1/thaw", agentId === undefined ? {} : { agentId }, {
        icon: "check",
        text: words.frame.thawedNow,
        ms: 8000,
      })
    const freeze = (agentId?: string, because?: string) =>
      void change(
        "/v1/freeze",
        {
          ...(agentId === undefined ? {} : { agentId }),
          ...(because === undefined || because === "" ? {} : { because }),
        },
        {
          icon: "snowflake",
          text: agentId === undefined ? words.frame.frozenNow : words.frame.frozenAgent(agentId),
          ms: 15_000,
          action: { label: words.frame.thaw, counts: false, run: () => thaw(agentId) },
        },
      )
    return { ask: (agentId) => setAsked({ agentId }), freeze, thaw }
  }, [change, words])

  useCommandKeys((key) => {
    if (key !== "⇧F") return false
    setAsked({ agentId: undefined })
    return true
  })
  return (
    <Context value={value}>
      {children}
      <Modal
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={
          asked?.agentId === undefined ? words.frame.freezeQuestion : words.frame.freezeAgentQuestion(asked.agentId)
        }
        closeButtonProps={{ "aria-label": words.frame.close }}
        centered
      >
        <FreezeForm
          cancel={() => setAsked(undefined)}
          freeze={(because) => {
            value.freeze(asked?.agentId, because)
            setAsked(undefined)
          }}
        />
      </Modal>
    </Context>
  )
}

function FreezeForm({ freeze, cancel }: { freeze: (because: string) => void; cancel: () => void }) {
  const words = useWords()
  const [because, setBecause] = useState("")
  return (
    <form
      className="dialog"
      onSubmit={(event) => {
        event.preventDefault()
        freeze(because)
      }}
    >
      <p className="soft">{words.frame.freezeExplained}</p>
      <label className="field">
        <span className="lab">{words.frame.freezeBecause}</span>
        <input className="in" value={because} maxLength={300} onChange={(event) => setBecause(event.target.value)} />
      </label>
      <div className="dialog-f">
        <button type="button" className="btn" onClick={cancel}>
          {words.frame.cancel}
        </button>
        <button type="submit" className="btn btn-p">
          {words.frame.freeze}
        </button>
      </div>
    </form>
  )
}
