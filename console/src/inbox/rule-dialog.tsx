import { Modal } from "@mantine/core"
import { useState } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { post } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import look from "./inbox.module.css"

interface RuleProps {
  readonly opened: boolean
  readonly close: () => void
  readonly rule: Readonly<Record<string, unknown>>
  readonly examples: readonly string[]
  readonly added: () => void
}

/** A drafted rule, shown whole before it counts. */
export function RuleDialog({ opened, close, rule, examples, added }: RuleProps) {
  const words = useWords()
  const tell = useTell()
  const [because, setBecause] = useState(String(rule["because"] ?? ""))
  const [problem, setProblem] = useState<unknown>()
  const problemText = useProblemText()
  const add = async () => {
    try {
      await post("/v1/rules", { rule: { ...rule, because } })
      void queries.invalidateQueries({ queryKey: ["suggestions"] })
      tell({ icon: "check", text: words.inbox.ruleAdded, ms: 8000 })
      close()
      added()
    } catch (error) {
      setProblem(error)
    }
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={words.inbox.ruleQuestion}
      closeButtonProps={{ "aria-label": words.frame.close }}
      centered
      size="lg"
    >
      <form
        className="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <p className="soft">{words.inbox.ruleExplained}</p>
        <dl className={`kv ${look["rule"]}`}>
          {Object.entries(rule)
            .filter(([name]) => name !== "because")
            .map(([name, value]) => (
              <RuleLine key={name} name={name} value={value} />
            ))}
        </dl>
        {examples.length > 0 && (
          <p className="dim">
            {words.inbox.ruleExamples}: <code>{printable(examples.join(" · "))}</code>
          </p>
        )}
        <label className="field">
          <span className="lab">{words.inbox.ruleBecause}</span>
          <input className="in" value={because} onChange={(event) => setBecause(event.target.value)} />
        </label>
        {problem !== undefined && (
          <p className="hint hint-wrong" role="alert">
            {problemText(problem)}
          </p>
        )}
        <div className="dialog-f">
          <button type="button" className="btn" onClick={close}>
            {words.frame.cancel}
          </button>
          <button type="submit" className="btn btn-p">
            {words.inbox.addRule}
          </button>
        </div>
      </form>
    </Modal>
  )
}

function RuleLine({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code>
          {printable(
            Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : JSON.stringify(value),
          )}
        </code>
      </dd>
    </>
  )
}
