import { useState, type ReactNode } from "react"
import type { Card } from "../../../src/http/api/schemas.ts"
import { fieldsOf, readForm, type Raw } from "../ui/schema-fields.ts"
import { SchemaForm } from "../ui/schema-form.tsx"
import { useWords } from "../words/words.tsx"
import { AnswerButton } from "./answer-button.tsx"
import { useSend } from "./answer-bar.tsx"
import { Chips } from "./chips.tsx"
import type { Subject } from "./guard.ts"
import { useKept } from "./outcomes.ts"
import type { Said } from "./said.ts"
import { guard, useCommandKeys } from "./use-guard.ts"

type Value = string | string[] | Record<string, unknown>

interface Props {
  readonly card: Card
  readonly asleep: boolean
  readonly offline: boolean
  /** Puts the question into the part of the card that scrolls. */
  readonly around: (question: ReactNode) => ReactNode
}

/** An agent's question. Typing never answers, and no key does: only Send. */
export function AnswerQuestion({ card, asleep, offline, around }: Props) {
  const words = useWords()
  const { outcome } = useKept(card.callId)
  const send = useSend()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [text, setText] = useState("")
  const [raw, setRaw] = useState<Record<string, Raw>>({})
  const [wrong, setWrong] = useState<Record<string, string>>({})
  const [said, setSaid] = useState<Said>()
  const question = card.question
  const fields = fieldsOf(question?.form)
  const options = question?.options ?? []
  const disabled = offline || !card.mayAnswer || outcome?.state === "sending"

  const value = (): Value | undefined => {
    if (fields !== undefined) {
      const form = readForm(fields, raw, {})
      if ("input" in form) return form.input
      setWrong(Object.fromEntries(Object.keys(form.wrong).map((name) => [name, words.answer.badJson])))
      return undefined
    }
    if (text.trim() !== "") return question?.multiple === true ? [...chosen, text.trim()] : text.trim()
    if (question?.multiple === true) return [...chosen]
    return chosen[0] ?? (question?.url === undefined ? undefined : words.answer.done)
  }
  const missing =
    fields === undefined
      ? question?.url === undefined && text.trim() === "" && chosen.length === 0
      : fields.some(({ name, required }) => required && (raw[name] === undefined || raw[name] === ""))
  const answer = (subject: Subject) => {
    const given = value()
    if (given !== undefined) void send(subject, { kind: "answer", value: given })
  }
  const decline = (subject: Subject) => void send(subject, { kind: "reject" })

  useCommandKeys((key) => {
    if (key !== "r") return false
    const subject = guard.press()
    if (!disabled && subject !== undefined && guard.judge(subject, true) === "go") decline(subject)
    return true
  })
  return (
    <>
      {around(
        <div className="question" data-found>
          <p className="q-t">{question?.question ?? card.summary}</p>
          {question?.url !== undefined && (
            <p className="q-u">
              <code>{question.url}</code>
              {/^https?:/.test(question.url) && (
                <a className="btn" href={question.url} target="_blank" rel="noreferrer noopener">
                  {words.answer.openPage}
                </a>
              )}
              <span className="dim">{words.answer.openedPage}</span>
            </p>
          )}
          {options.length > 0 && (
            <Chips
              label={words.answer.yourAnswer}
              options={options.map((option) => ({ value: option, label: option }))}
              chosen={chosen}
              multiple={question?.multiple === true}
              choose={(option) => {
                if (question?.multiple !== true) setText("")
                setChosen((all) =>
                  question?.multiple === true
                    ? all.includes(option)
                      ? all.filter((each) => each !== option)
                      : [...all, option]
                    : [option],
                )
              }}
            />
          )}
          {fields !== undefined && (
            <SchemaForm
              fields={fields}
              raw={raw}
              wrong={wrong}
              change={(name, next) => setRaw((all) => ({ ...all, [name]: next }))}
            />
          )}
          {fields === undefined && question?.url === undefined && (
            <textarea
              className="in"
              rows={2}
              aria-label={options.length > 0 ? words.answer.ownWords : words.answer.yourAnswer}
              placeholder={options.length > 0 ? words.answer.ownWords : words.answer.yourAnswer}
              value={text}
              onChange={(event) => {
                setText(event.target.value)
                if (question?.multiple !== true) setChosen([])
              }}
            />
          )}
        </div>,
      )}
      <footer className="answer" aria-label={words.answer.bar} data-asleep={asleep || undefined}>
        {!card.mayAnswer && <p className="hint hint-wrong">{words.card.mayNotAnswer}</p>}
        <p className="said" role="status">
          {said !== undefined && words.answer[said]}
        </p>
        <div className="acts">
          <span className="grow" />
          <AnswerButton disabled={disabled} asleep={asleep} run={decline} say={setSaid}>
            {words.answer.doNotAnswer}
            <kbd aria-hidden="true">R</kbd>
          </AnswerButton>
          <AnswerButton
            className="btn btn-l btn-p"
            disabled={disabled || missing}
            asleep={asleep}
            run={answer}
            say={setSaid}
          >
            {question?.url === undefined ? words.answer.send : words.answer.done}
          </AnswerButton>
        </div>
      </footer>
    </>
  )
}
