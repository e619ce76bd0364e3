import { useEffect, useRef, useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printableJson } from "../../../src/lib/printable.ts"
import { noProblems, problemsByPath, problemsInSentence } from "../form/problems.ts"
import { propertiesOf } from "../form/schema.ts"
import { SchemaForm } from "../form/schema-form.tsx"
import { parameterText, problemText } from "../words/problem-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { sendAnswer, useKept } from "./outcomes.ts"

/** The input as a form, or as JSON. A change is checked and shown again as the next revision; only then it is approved. */
export function EditInput({ card, close }: { card: Card; close: () => void }) {
  const words = useWords()
  const { language } = useLanguage()
  const { outcome } = useKept(card.callId)
  const schema = card.inputSchema
  const hasForm = schema !== undefined && propertiesOf(schema).length > 0
  const [input, setInput] = useState<unknown>(card.input)
  const [json, setJson] = useState(() => (hasForm ? undefined : pretty(card.input)))
  const [problems, setProblems] = useState(noProblems)
  // The revision that the form was made from, however long it is open.
  const [subject] = useState(() => ({ callId: card.callId, revision: card.revision }))
  const form = useRef<HTMLFormElement>(null)
  // A person asked for the form, so that the focus may go there.
  useEffect(() => {
    form.current?.scrollIntoView({ block: "nearest" })
    form.current?.querySelector<HTMLElement>("textarea, input, select")?.focus({ preventScroll: true })
  }, [])

  const check = async () => {
    const changed = json === undefined ? { input } : parse(json)
    if (changed === undefined) return setProblems({ byPath: {}, other: [words.answer.badJson] })
    const sent = await sendAnswer(subject, { kind: "edit", input: changed.input })
    if (sent.state === "done") close()
    else if (sent.state !== "sending") {
      const { problem } = sent
      const say = (sentence: string) =>
        sentence === problem.detail ? problemText(problem, language) : parameterText(sentence, language)
      setProblems(problemsByPath(problemsInSentence(problem.detail), say))
    }
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
        {json === undefined && (
          <button type="button" className="btn btn-s btn-q" onClick={() => setJson(pretty(input))}>
            {words.card.asJson}
          </button>
        )}
      </div>
      {json === undefined ? (
        <SchemaForm schema={schema ?? {}} value={input} change={setInput} problems={problems.byPath} />
      ) : (
        <textarea
          className="in mono"
          aria-label={words.card.input}
          rows={Math.min(20, json.split("\n").length + 1)}
          value={json}
          onChange={(event) => setJson(event.target.value)}
        />
      )}
      {[...problems.other, ...(json === undefined ? [] : Object.values(problems.byPath))].map((problem) => (
        <p key={problem} className="hint hint-wrong" role="alert">
          {problem}
        </p>
      ))}
      <p className="hint">{words.answer.editExplained}</p>
      <div className="edit-f">
        <span className="dim grow">{words.answer.keysAreText}</span>
        <button type="button" className="btn" onClick={close}>
          {words.answer.back}
        </button>
        <button type="submit" className="btn btn-p" disabled={outcome?.state === "sending"}>
          {words.answer.check}
        </button>
      </div>
    </form>
  )
}

/** Hidden characters are codes, which are read back as what they were. */
const pretty = (value: unknown) => (value === undefined ? "" : printableJson(value, 2))

function parse(text: string): { input: unknown } | undefined {
  try {
    return { input: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
