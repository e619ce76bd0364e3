import { useState, type ReactNode } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import type { Outcome } from "../answer/outcomes.ts"
import type { IconName } from "../ui/icon-paths.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import type { Words } from "../words/en.ts"
import { problemText } from "../words/problem-text.ts"
import { spanText } from "../words/time-text.ts"
import { useLanguage, useSay, useWords, type Language } from "../words/words.tsx"
import { translateNote } from "../../../src/messages/translate.ts"
import { useMe } from "../api/queries.ts"
import { peopleNeeded } from "./card-parts.tsx"
import { changedFields, type ChangedField } from "./changes.ts"
import type { Shown } from "./shown-card.ts"

interface StripProps {
  readonly tone: "ok" | "ask" | "deny" | "held" | "gone"
  readonly icon: IconName
  readonly text: string
  readonly children?: ReactNode
}

function Strip({ tone, icon, text, children }: StripProps) {
  return (
    <div className={`strip strip-${tone}`} role="status" data-strip={tone}>
      <Icon name={icon} />
      <p className="grow">
        <Marked text={text} />
      </p>
      {children}
    </div>
  )
}

interface Props {
  readonly shown: Shown
  readonly card: Card
  readonly outcome: Outcome | undefined
  readonly expired: boolean
  readonly offline: boolean
}

/** Shows the latest change of the card, in one line above it. The latest and the most final first. */
export function StateStrip({ shown, card, outcome: last, expired, offline }: Props) {
  const words = useWords()
  const mine = useMe().id
  // A yes that others must join is no news any more once the call was settled, expired or changed.
  const isSettled = expired || shown.standing.state !== "waits"
  const isOld = isSettled || (last?.state === "done" && last.revision !== card.revision)
  const outcome = last?.state === "done" && isVote(last) && isOld ? undefined : last
  const say = useSay()
  const { language } = useLanguage()
  const { states } = words
  if (outcome?.state === "done" && (outcome.answered.done || outcome.answer.kind !== "edit")) {
    const { done, message } = outcome.answered
    // The server's text beyond "Approved." is about when it goes on, or why an edited call ended.
    const more = isVote(outcome)
      ? ` ${states.agreedOf(...votesOf(card, mine))}`
      : isCallerGone(outcome)
        ? ` ${states.callerGone(spanText(Number(message.params?.["minutes"]) * 60_000, words))}`
        : done && outcome.answer.kind !== "edit"
          ? ""
          : ` ${say(message)}`
    return <Strip tone={isNo(outcome) ? "gone" : "ok"} icon="check" text={doneText(outcome, words) + more} />
  }
  const edited = editedForLater(shown, outcome)
  if (edited !== undefined && outcome?.state === "done")
    return (
      <>
        <Strip tone="held" icon="check" text={`${states.youEdited} ${say(outcome.answered.message)}`} />
        <Changes fields={changedFields(card.input, edited.input)} />
      </>
    )
  if (outcome?.state === "late")
    return <Strip tone="deny" icon="arrow-bounce" text={notCountedText(outcome, words, language)} />
  if (shown.standing.state === "answered") {
    const { by, did = "answered" } = shown.standing
    const text = by === undefined ? states.answeredElsewhere : states.answeredBy(by, states.did[did])
    return <Strip tone="ok" icon="check" text={text} />
  }
  if (expired) return <Strip tone="gone" icon="clock-off" text={`${states.expired} ${states.expiredMore}`} />
  if (shown.standing.state === "gone")
    return <Strip tone="gone" icon="clock-off" text={`**${states.gone}.** ${states.goneMore}`} />
  if (offline) return <Strip tone="ask" icon="plug-connected-x" text={states.offline} />
  if (outcome?.state === "failed")
    return <Strip tone="deny" icon="alert-triangle" text={notCountedText(outcome, words, language)} />
  if (shown.before !== undefined || card.editedBy !== undefined || card.note !== undefined)
    return <ChangedStrip card={card} before={shown.before} />
  return null
}

/** A yes that counts, while more people must agree. */
const isVote = (outcome: Extract<Outcome, { state: "done" }>) =>
  !outcome.answered.done && outcome.answer.kind !== "edit"

/** Counts those who have agreed and those who must. The list is a moment behind the answer just given here. */
function votesOf({ votes, approvers }: Card, mine: string): [agreed: number, needed: number] {
  const agreed = votes.some(({ by }) => by === mine) ? votes.length : votes.length + 1
  return [agreed, Math.max(agreed, peopleNeeded(approvers))]
}

/** Approved, but nobody waits for it: it runs when its caller asks for it again. */
export const isCallerGone = (outcome: Outcome) =>
  outcome.state === "done" && ["answer_call_again", "answer_fetch"].includes(outcome.answered.message.code)

/** The new input of a call that was edited here and for which nobody waits: it is checked when its caller asks again. */
export function editedForLater({ standing }: Shown, outcome: Outcome | undefined): { input?: unknown } | undefined {
  if (standing.state !== "answered" || outcome?.state !== "done" || outcome.answer.kind !== "edit") return undefined
  return outcome.answered.message.code === "answer_edited_later" ? outcome.answer : undefined
}

const isNo = ({ answer }: Outcome) => answer.kind === "reject" || answer.kind === "withhold"

function doneText(outcome: Extract<Outcome, { state: "done" }>, { states }: Words): string {
  if (!outcome.answered.done) return states.youAgreed
  switch (outcome.answer.kind) {
    case "reject":
      return states.youRejected
    case "release":
      return states.youReleased
    case "withhold":
      return states.youWithheld
    case "answer":
      return states.youAnswered
    case "edit":
      return states.yourChangeChecked
    case "approve":
    case "approve-with-rule":
      return states.youApproved
  }
}

/** Why an answer did not count. */
export function notCountedText(
  outcome: Extract<Outcome, { state: "late" | "failed" }>,
  { states }: Words,
  language: Language,
): string {
  const { code, by, name = by } = outcome.problem
  const detail = problemText(outcome.problem, language)
  if (outcome.state === "failed") return `${states.failed} ${detail}`
  const isAnswer = outcome.answer.kind === "answer" || outcome.answer.kind === "edit"
  const what = isNo(outcome) ? states.yourNo : isAnswer ? states.yourAnswer : states.yourYes
  if (code === "changed") return `${what} ${states.changedMeanwhile}`
  if (code === "expired") return `${what} ${states.expired.replaceAll("*", "")}`
  return `${what} ${name === undefined ? detail : states.first(name)}`
}

function ChangedStrip({ card, before }: { card: Card; before: Card | undefined }) {
  const words = useWords()
  const [open, setOpen] = useState(false)
  const { language } = useLanguage()
  const edited = card.editedBy === undefined ? words.states.changedPlain : words.states.changedBy(card.editedBy)
  const who = card.note === undefined ? edited : translateNote(card, language)
  const changes = before === undefined ? [] : changedFields(before.input, card.input)
  return (
    <>
      <Strip tone="held" icon="refresh-dot" text={`${words.states.changed(card.revision)} ${who}`}>
        {changes.length > 0 && (
          <button type="button" className="btn btn-s" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? words.states.hideChange : words.states.showChange}
          </button>
        )}
      </Strip>
      {open && <Changes fields={changes} />}
    </>
  )
}

function Changes({ fields }: { fields: readonly ChangedField[] }) {
  return (
    <dl className="changes">
      {fields.map(({ name, before, after }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {before !== undefined && <del className="del-w">{printable(before)}</del>}
            {after !== undefined && <ins className="add-w">{printable(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
