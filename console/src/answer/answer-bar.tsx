import { useRef, useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { releaseAnswer, countRedacted, type Redaction } from "../card/redactions.ts"
import { Icon } from "../ui/icon.tsx"
import { useTell } from "../ui/notices.tsx"
import { problemOf, remove } from "../api/http.ts"
import { useWords } from "../words/words.tsx"
import { AnswerButton } from "./answer-button.tsx"
import type { Subject } from "./guard.ts"
import { HoldButton, TypeName } from "./hold-button.tsx"
import { useHold } from "./hold.ts"
import { sendAnswer, useKept, writeNote, type Answer } from "./outcomes.ts"
import { approveAnswer, onlyOnce, Remember } from "./remember.tsx"
import type { Said } from "./said.ts"
import { useAnswerKeys, useCardGuard } from "./card-guard.tsx"
import { useMay } from "./use-may.ts"

interface Props {
  readonly card: Card
  readonly asleep: boolean
  readonly offline: boolean
  readonly redactions: readonly Redaction[]
  readonly edit: () => void
}

/** The bar below a call or a held result. It is always in the same place. */
export function AnswerBar({ card, asleep, offline, redactions, edit }: Props) {
  const words = useWords()
  const { note, outcome } = useKept(card.callId)
  const [remembered, setRemembered] = useState(onlyOnce)
  const [said, setSaid] = useState<Said>()
  const [typing, setTyping] = useState(false)
  const [noteShown, setNoteShown] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const send = useSend()
  const { guard, hasKeys, scrolledIntoView } = useCardGuard()

  const isResult = card.kind === "result"
  const may = useMay(card)
  const isBusy = offline || outcome?.state === "sending"
  const noYes = isBusy || !may.yes
  const noNo = isBusy || !may.no
  const say = (next: Said) => setSaid(next)

  const yes = (subject: Subject) => {
    setSaid(undefined)
    void send(subject, isResult ? releaseAnswer(card.result?.value, redactions) : approveAnswer(remembered, note))
  }
  const no = (subject: Subject) => {
    setSaid(undefined)
    void send(subject, { kind: isResult ? "withhold" : "reject", ...(note === "" ? {} : { reason: note }) })
  }
  const hold = useHold(yes, () => say("letGo"))

  useAnswerKeys((key, event) => {
    if (key === "n") {
      setNoteShown(true)
      setTimeout(() => field.current?.focus())
      return true
    }
    if (key !== "a" && key !== "r" && key !== "e") return false
    const subject = guard.press()
    if ((key === "a" ? noYes : noNo) || subject === undefined || guard.judge(subject, true) !== "go") return true
    if (key === "e") {
      if (!isResult) edit()
      return true
    }
    if (scrolledIntoView()) {
      say("scrolled")
      return true
    }
    if (key === "r") no(subject)
    else if (!card.risk.destructive) yes(subject)
    else {
      hold.begin()
      const letGo = (up: KeyboardEvent) => {
        if (up.key.toLowerCase() !== event.key.toLowerCase()) return
        window.removeEventListener("keyup", letGo)
        hold.cancel()
      }
      window.addEventListener("keyup", letGo)
    }
    return true
  })

  const redacted = isResult ? countRedacted(card.result?.value, redactions) : 0
  const yesLabel = isResult
    ? redacted > 0
      ? words.answer.releaseRedacted(redacted)
      : words.answer.release
    : remembered.what === "once"
      ? words.answer.approve
      : remembered.what === "rule"
        ? words.answer.approveRule
        : words.answer.approveRemember
  return (
    <footer className="answer" aria-label={words.answer.bar} data-asleep={asleep || undefined}>
      {!isResult && <Remember card={card} remembered={remembered} change={setRemembered} />}
      {may.whyNot !== undefined && <p className="hint">{may.whyNot}</p>}
      <p className="said" role="status">
        {said !== undefined && words.answer[said]}
        {said === "letGo" && card.risk.destructive && !typing && (
          <button type="button" className="linklike" onClick={() => setTyping(true)}>
            {words.answer.typeInstead}
          </button>
        )}
      </p>
      {typing && card.risk.destructive && <TypeName tool={card.tool} run={yes} />}
      <div className="acts">
        <input
          ref={field}
          className={noteShown ? "in" : "in wide-only"}
          aria-label={isResult ? words.answer.reason : words.answer.note}
          placeholder={isResult ? words.answer.reason : words.answer.note}
          maxLength={2000}
          value={note}
          onChange={(event) => writeNote(card.callId, event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
        {!noteShown && (
          <button
            type="button"
            className="btn btn-l btn-note phone-only"
            aria-label={words.answer.note}
            onClick={() => {
              setNoteShown(true)
              setTimeout(() => field.current?.focus())
            }}
          >
            <Icon name="message-plus" />
          </button>
        )}
        {!isResult && (
          <button type="button" className="btn btn-l" disabled={noNo} onClick={edit}>
            {words.answer.edit}
            {hasKeys && <kbd aria-hidden="true">E</kbd>}
          </button>
        )}
        <AnswerButton disabled={noNo} asleep={asleep} run={no} say={say}>
          {isResult ? words.answer.withhold : words.answer.reject}
          {hasKeys && <kbd aria-hidden="true">R</kbd>}
        </AnswerButton>
        {card.risk.destructive ? (
          <HoldButton hold={hold} disabled={noYes} asleep={asleep} say={say}>
            {isResult ? words.answer.holdRelease : words.answer.hold}
            {hasKeys && <kbd aria-hidden="true">A</kbd>}
          </HoldButton>
        ) : (
          <AnswerButton
            className={card.risk.band === "high" ? "btn btn-l btn-yes" : "btn btn-l btn-p"}
            disabled={noYes}
            asleep={asleep}
            run={yes}
            say={say}
          >
            {outcome?.state === "sending" ? words.answer.sending : yesLabel}
            {hasKeys && <kbd aria-hidden="true">A</kbd>}
          </AnswerButton>
        )}
      </div>
      {isResult && <p className="hint">{words.answer.toldRedacted}</p>}
    </footer>
  )
}

/** Sends an answer, and offers for 30 seconds to take back what was remembered with it. */
export function useSend(): (subject: Subject, answer: Answer) => Promise<void> {
  const words = useWords()
  const tell = useTell()
  return async (subject, answer) => {
    const outcome = await sendAnswer(subject, answer)
    if (outcome.state !== "done") return
    const { grantId } = outcome.answered
    if (grantId === undefined) return
    const undo = () =>
      remove(`/v1/grants/${encodeURIComponent(grantId)}`).then(
        () => tell({ icon: "arrow-back-up", text: words.answer.undone, ms: 8000 }),
        (error: unknown) =>
          tell({
            icon: "alert-triangle",
            text: `${words.answer.notUndone} ${problemOf(error).detail}`,
            ms: 30_000,
            action: again,
          }),
      )
    const again = { label: words.frame.tryAgain, counts: false, run: () => void undo() }
    tell({
      icon: "check",
      text: `${words.answer.approvedRemembered} ${words.answer.undoNote}`,
      ms: 30_000,
      action: { label: words.answer.undo, counts: true, run: () => void undo() },
    })
  }
}
