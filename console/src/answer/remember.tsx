import { useId } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import type { Message } from "../../../src/messages/message.ts"
import { grantMinutes } from "../../../src/core/rule.ts"
import { useMe } from "../api/queries.ts"
import { serverNow } from "../api/clock.ts"
import { useSay, useWords } from "../words/words.tsx"
import type { Answer } from "./outcomes.ts"
import { Chips } from "./chips.tsx"

export type Scope = Card["remember"][number]["scope"]

/** The scope remembered with a yes. `once` is always first and always the start. */
export interface Remembered {
  readonly what: "once" | "rule" | Scope
  readonly minutes: number
  readonly days: number
}

export const onlyOnce: Remembered = { what: "once", minutes: grantMinutes.usual, days: 7 }

/** The fields that a yes or a no carries for it. */
export function rememberFields({ what, minutes }: Remembered): { remember?: Scope; minutes?: number } {
  if (what === "once" || what === "rule") return {}
  return what === "minutes" ? { remember: what, minutes } : { remember: what }
}

export function approveAnswer(remembered: Remembered, note: string): Answer {
  const said = note === "" ? {} : { note }
  if (remembered.what === "rule")
    return { kind: "approve-with-rule", expiresAt: Math.round(serverNow() + remembered.days * 86_400_000), ...said }
  return { kind: "approve", ...said, ...rememberFields(remembered) }
}

/** Adds the minutes that the person chose for remembering. */
const withMinutes = (message: Message, minutes: number): Message => ({
  ...message,
  params: { ...message.params, minutes },
})

interface Props {
  readonly card: Card
  readonly remembered: Remembered
  readonly change: (next: Remembered) => void
}

/** Shows the scopes that the server offers to remember, each with its meaning in words. */
export function Remember({ card, remembered, change }: Props) {
  const words = useWords()
  const say = useSay()
  const { scopes } = useMe()
  const id = useId()
  const rule = scopes.includes("manage") ? card.rule : undefined
  const options = [
    { value: "once", label: words.answer.once },
    ...card.remember.map(({ scope }) => ({
      value: scope,
      label: scope === "minutes" ? words.answer.forMinutes(remembered.minutes) : words.answer.scope[scope],
    })),
    ...(rule === undefined ? [] : [{ value: "rule", label: words.answer.withRule }]),
  ]
  const choose = (what: string) => change({ ...remembered, what: what as Remembered["what"] })
  const offered = card.remember.find(({ scope }) => scope === remembered.what)
  const hint =
    remembered.what === "rule" && rule !== undefined
      ? say(rule.message)
      : offered === undefined
        ? card.rememberNothing && say(card.rememberNothing)
        : say(withMinutes(offered.message, remembered.minutes))
  if (options.length === 1)
    return (
      <p className="once">
        {words.answer.onceOnly} {card.rememberNothing !== undefined && say(card.rememberNothing)}
      </p>
    )
  return (
    <div className="remember">
      <span className="lab" id={id}>
        {words.answer.remember}
      </span>
      <Chips
        label={words.answer.remember}
        labelledBy={id}
        options={options}
        chosen={[remembered.what]}
        choose={choose}
      />
      <select
        className="in rem-sel phone-only"
        aria-label={words.answer.remember}
        value={remembered.what}
        onChange={(event) => choose(event.target.value)}
      >
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <p className="hint">
        {hint ?? words.answer.onceOnly}{" "}
        {remembered.what === "minutes" && (
          <Pick
            label={words.answer.minutesLabel}
            value={remembered.minutes}
            of={[5, grantMinutes.usual, 60, 240]}
            text={words.answer.forMinutes}
            pick={(minutes) => change({ ...remembered, minutes })}
          />
        )}
        {remembered.what === "rule" && (
          <Pick
            label={words.answer.ruleUntil}
            value={remembered.days}
            of={[1, 7, 30]}
            text={words.answer.ruleDays}
            pick={(days) => change({ ...remembered, days })}
          />
        )}
      </p>
    </div>
  )
}

interface PickProps {
  readonly label: string
  readonly value: number
  readonly of: readonly number[]
  readonly text: (n: number) => string
  readonly pick: (n: number) => void
}

function Pick({ label, value, of, text, pick }: PickProps) {
  return (
    <label className="pick">
      {label}{" "}
      <select value={value} onChange={(event) => pick(Number(event.target.value))}>
        {of.map((n) => (
          <option key={n} value={n}>
            {text(n)}
          </option>
        ))}
      </select>
    </label>
  )
}
