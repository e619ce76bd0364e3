import { Modal } from "@mantine/core"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { remove } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import look from "./inbox.module.css"

/** Says that this is the sample, and removes it, once somebody has read what goes and what stays. */
export function Sample() {
  const words = useWords()
  const { scopes } = useMe()
  const [asked, setAsked] = useState(false)
  return (
    <div className={look["sample"]}>
      <Icon name="flask" />
      <p className="grow">
        <Marked text={words.first.sample} />
      </p>
      <Link className="btn btn-s" to="/tools" search={{ agent: "dev" }}>
        {words.first.tryCall}
      </Link>
      <Link className="btn btn-s" to="/rules">
        {words.first.openRules}
      </Link>
      {scopes.includes("manage") && (
        <button type="button" className="btn btn-s" onClick={() => setAsked(true)}>
          {words.first.removeSample}…
        </button>
      )}
      <Modal
        opened={asked}
        onClose={() => setAsked(false)}
        title={words.first.removeQuestion}
        closeButtonProps={{ "aria-label": words.frame.close }}
        centered
      >
        <RemoveForm close={() => setAsked(false)} />
      </Modal>
    </div>
  )
}

function RemoveForm({ close }: { close: () => void }) {
  const words = useWords()
  const tell = useTell()
  const navigate = useNavigate()
  const problemText = useProblemText()
  const [busy, setBusy] = useState(false)
  const removeSample = async () => {
    setBusy(true)
    try {
      await remove("/v1/sample")
      tell({ icon: "check", text: words.first.sampleRemoved, ms: 12_000 })
      await queries.invalidateQueries()
      await navigate({ to: "/inbox" })
    } catch (error) {
      tell({ icon: "alert-triangle", text: problemText(error), ms: 12_000 })
    } finally {
      setBusy(false)
      close()
    }
  }
  return (
    <form
      className="dialog"
      onSubmit={(event) => {
        event.preventDefault()
        void removeSample()
      }}
    >
      {words.first.removeExplained.map((text) => (
        <p key={text} className="soft">
          <Marked text={text} />
        </p>
      ))}
      <div className="dialog-f">
        <button type="button" className="btn" onClick={close}>
          {words.frame.cancel}
        </button>
        <button type="submit" className="btn btn-p" disabled={busy}>
          {words.first.removeSample}
        </button>
      </div>
    </form>
  )
}
