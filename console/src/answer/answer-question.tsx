import { useState, type ReactNode } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { propertiesOf } from "../form/schema.ts"
import { SchemaForm } from "../form/schema-form.tsx"
import { useWords } from "../words/words.tsx"
import { AnswerButton } from "./answer-button.tsx"
import { useSend } from "./answer-bar.tsx"
import { Chips } from "./chips.tsx"
import type { Subject } from "./guard.ts"
import { useKept } from "./outcomes.ts"
import type { Said } from "./said.ts"
import { useAnswerKeys, useCardGuard } from "./card-guard.tsx"
import { useMay } from "./use-may.ts"

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
  const { guard, hasKeys, scrolledIntoView } = useCardGuard()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [text, setText] = useState("")
  const [filled, setFilled] = useState<Record<string, unknown>>({})
  const [said, setSaid] = useState<Said>()
  const question = card.question
  const form = question?.form
  const options = question?.options ?? []
  const may = useMay(card)
  const isBusy = offline || outcome?.state === "sending"

  const value = (): Value | undefined => {
    if (form !== undefined) return filled
    if (text.trim() !== "") return text.trim()
    if (question?.multiple === true) return [...chosen]
    return chosen[0] ?? (question?.url === undefined ? undefined : {})
  }
  const missing =
    form === undefined
      ? question?.url === undefined && text.trim() === "" && chosen.length === 0
      : propertiesOf(form).some(({ name, required }) => required && filled[name] === undefined)
  const answer = (subject: Subject) => {
    const given = value()
    if (given !== undefined) void send(subject, { kind: "answer", value: given })
  }
  const decline = (subject: Subject) => void send(subject, { kind: "reject" })

  useAnswerKeys((key) => {
    if (key !== "r") return false
    const subject = guard.press()
    if (isBusy || !may.no || subject === undefined || guard.judge(subject, true) !== "go") return true
    if (scrolledIntoView()) setSaid("scrolled")
    else decline(subject)
    return true
  })
  return (
    <>
      {around(
        <div className="question" data-found>
          <p className="q-t">{printable(question?.question ?? card.summary)}</p>
          {question?.url !== undefined && (
            <p className="q-u">
              <code>{printable(question.url)}</code>
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
              options={options.map((option) => ({ value: option, label: printable(option) }))}
              chosen={chosen}
              multiple={question?.multiple === true}
              choose={(option) =>
                setChosen((all) =>
                  question?.multiple === true
                    ? all.includes(option)
                      ? all.filter((each) => each !== option)
                      : [...all, option]
                    : [option],
                )
              }
            />
          )}
          {form !== undefined && (
            <SchemaForm
              schema={form}
              value={filled}
              change={(next) => setFilled(next as Record<string, unknown>)}
              problems={{}}
            />
          )}
          {options.length === 0 && form === undefined && question?.url === undefined && (
            <textarea
              className="in"
              rows={2}
              aria-label={words.answer.yourAnswer}
              placeholder={words.answer.yourAnswer}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </div>,
      )}
      <footer className="answer" aria-label={words.answer.bar} data-asleep={asleep || undefined}>
        {may.whyNot !== undefined && <p className="hint">{may.whyNot}</p>}
        <p className="said" role="status">
          {said !== undefined && words.answer[said]}
        </p>
        <div className="acts">
          <span className="grow" />
          <AnswerButton disabled={isBusy || !may.no} asleep={asleep} run={decline} say={setSaid}>
            {words.answer.doNotAnswer}
            {hasKeys && <kbd aria-hidden="true">R</kbd>}
          </AnswerButton>
          <AnswerButton
            className="btn btn-l btn-p"
            disabled={isBusy || !may.yes || missing}
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
