import { useEffect, useRef, useState } from "react"
import type { Card } from "../../../src/http/api/schemas.ts"
import { fieldsOf, readForm, toRaw, type Raw } from "../ui/schema-fields.ts"
import { SchemaForm } from "../ui/schema-form.tsx"
import { useWords } from "../words/words.tsx"
import { sendAnswer, useKept } from "./outcomes.ts"

/** The input as a form, or as JSON. A change is checked and shown again as the next revision; only then it is approved. */
export function EditInput({ card, close }: { card: Card; close: () => void }) {
  const words = useWords()
  const { outcome } = useKept(card.callId)
  const fields = fieldsOf(card.inputSchema)
  const before = (typeof card.input === "object" && card.input !== null ? card.input : {}) as Record<string, unknown>
  const [raw, setRaw] = useState<Record<string, Raw>>(() =>
    Object.fromEntries((fields ?? []).map((field) => [field.name, toRaw(field, before[field.name])])),
  )
  const [json, setJson] = useState<string | undefined>(() => (fields === undefined ? pretty(card.input) : undefined))
  const [wrong, setWrong] = useState<Record<string, string>>({})
  const [problem, setProblem] = useState<string>()
  // The revision that the form was made from, however long it is open.
  const [subject] = useState(() => ({ callId: card.callId, revision: card.revision }))
  const sending = outcome?.state === "sending"
  const form = useRef<HTMLFormElement>(null)
  // A person asked for the form, so that the focus may go there.
  useEffect(() => {
    form.current?.scrollIntoView({ block: "nearest" })
    form.current?.querySelector<HTMLElement>("textarea, input, select")?.focus({ preventScroll: true })
  }, [])

  const read = (): { input: unknown } | undefined => {
    if (json !== undefined) {
      try {
        return { input: JSON.parse(json) as unknown }
      } catch {
        setProblem(words.answer.badJson)
        return undefined
      }
    }
    const values = readForm(fields ?? [], raw, before)
    if ("input" in values) return values
    setWrong(Object.fromEntries(Object.keys(values.wrong).map((name) => [name, words.answer.badJson])))
    return undefined
  }
  const check = async () => {
    setProblem(undefined)
    setWrong({})
    const values = read()
    if (values === undefined) return
    const sent = await sendAnswer(subject, { kind: "edit", input: values.input })
    if (sent.state === "done") return close()
    if (sent.state === "sending") return
    setProblem(sent.problem.detail)
    setWrong(
      Object.fromEntries(
        (sent.problem.errors ?? []).map(({ path, sentence }) => [path.replace(/^\/|^\./, ""), sentence]),
      ),
    )
  }
  const toJson = () => {
    const values = read()
    if (values !== undefined) setJson(pretty(values.input))
  }
  return (
    <form
      ref={form}
      className="edit"
      aria-label={words.answer.edit}
      onSubmit={(event) => {
        event.preventDefault()
        void check()
      }}
    >
      <div className="edit-h">
        <h3 className="h3 grow">{words.card.input}</h3>
        {fields !== undefined && json === undefined && (
          <button type="button" className="btn btn-s btn-q" onClick={toJson}>
            {words.card.asJson}
          </button>
        )}
      </div>
      {json === undefined ? (
        <SchemaForm
          fields={fields ?? []}
          raw={raw}
          wrong={wrong}
          change={(name, next) => setRaw((all) => ({ ...all, [name]: next }))}
        />
      ) : (
        <textarea
          className="in mono"
          aria-label={words.card.input}
          rows={Math.min(20, json.split("\n").length + 1)}
          value={json}
          onChange={(event) => setJson(event.target.value)}
        />
      )}
      {problem !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem}
        </p>
      )}
      <p className="hint">{words.answer.editExplained}</p>
      <div className="edit-f">
        <span className="dim grow">{words.answer.keysAreText}</span>
        <button type="button" className="btn" onClick={close}>
          {words.answer.back}
        </button>
        <button type="submit" className="btn btn-p" disabled={sending}>
          {words.answer.check}
        </button>
      </div>
    </form>
  )
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2) ?? ""
