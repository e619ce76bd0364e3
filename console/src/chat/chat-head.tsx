import { Menu, Modal } from "@mantine/core"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import type { ChainViewJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useCommandKeys } from "../answer/use-guard.ts"
import { useConnection } from "../api/live.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { moneyText } from "./amounts.ts"
import { change, erase, resume, stop } from "./queries.ts"
import look from "./chat.module.css"

interface Props {
  readonly view: ChainViewJson
  readonly maxCost: number | undefined
  readonly again: () => void
  readonly showSide: (() => void) | undefined
}

/** Reports whether a run of the conversation itself works or waits. Agents below it may work without one. */
export const isRunning = ({ conversation: { state } }: ChainViewJson) => state === "active" || state === "waiting"

/** The title, what it has cost, and stop or go on. */
export function ChatHead({ view, maxCost, again, showSide }: Props) {
  const words = useWords()
  const tell = useTell()
  const problem = useProblemText()
  const { id, title, cost, shown, branchOf } = view.conversation
  const works = isRunning(view)
  const [asked, setAsked] = useState(false)
  const offline = useConnection().state === "lost"
  const mayStop = view.may.say && works && !asked && !offline

  const act = (work: Promise<unknown>) =>
    work.then(again, (error: unknown) => tell({ icon: "alert-triangle", text: problem(error), ms: 15_000 }))
  const end = () => {
    setAsked(true)
    void act(stop(id)).finally(() => setAsked(false))
  }
  useCommandKeys((key) => {
    if (key !== "⇧S" || !mayStop) return false
    end()
    return true
  })
  return (
    <div className="head">
      <Link to="/chat" className="ib phone-only" aria-label={words.chat.title}>
        <Icon name="chevron-left" />
      </Link>
      <Title
        key={id}
        title={title}
        save={view.may.manage ? (next) => void act(change(id, { title: next })) : undefined}
      />
      {branchOf !== undefined && (
        <Link to="/chat/$chatId" params={{ chatId: branchOf.id }} className="tag wide-only" title={words.chat.branchOf}>
          <Icon name="git-branch" />
          {words.chat.branches(1)}
        </Link>
      )}
      <span className="grow" />
      <span className={`${look["cost"]} num wide-only`}>
        <Marked text={words.chat.cost(moneyText(cost), maxCost === undefined ? undefined : moneyText(maxCost))} />
      </span>
      {works ? (
        <button type="button" className="btn btn-s" disabled={!mayStop} onClick={end} aria-keyshortcuts="Shift+S">
          <Icon name="player-stop" small />
          {asked ? words.chat.stopping : words.chat.stop}
          <kbd aria-hidden="true">⇧S</kbd>
        </button>
      ) : (
        (shown === "stopped" || shown === "failed") &&
        view.may.say && (
          <button type="button" className="btn btn-s" disabled={offline} onClick={() => void act(resume(id))}>
            <Icon name="player-play" small />
            {shown === "failed" ? words.chat.retry : words.chat.resume}
          </button>
        )
      )}
      <More view={view} act={act} showSide={showSide} />
    </div>
  )
}

/** The title; for whoever may rename it, a field as soon as it is clicked. */
function Title({ title, save }: { title: string; save: ((next: string) => void) | undefined }) {
  const words = useWords()
  const [edited, setEdited] = useState<string>()
  if (edited === undefined)
    return (
      <h1 className="cut">
        {save === undefined ? (
          printable(title)
        ) : (
          <button type="button" className={look["title"]} title={words.chat.rename} onClick={() => setEdited(title)}>
            {printable(title)}
          </button>
        )}
      </h1>
    )
  const done = (keep: boolean) => {
    if (keep && edited.trim() !== "" && edited.trim() !== title) save?.(edited.trim())
    setEdited(undefined)
  }
  return (
    <input
      className={`in ${look["titleField"]}`}
      aria-label={words.chat.renameLabel}
      value={edited}
      maxLength={200}
      autoFocus
      onChange={(event) => setEdited(event.target.value)}
      onBlur={() => done(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") done(true)
        if (event.key === "Escape") done(false)
      }}
    />
  )
}

interface MoreProps {
  readonly view: ChainViewJson
  readonly act: (work: Promise<unknown>) => Promise<unknown>
  readonly showSide: (() => void) | undefined
}

function More({ view, act, showSide }: MoreProps) {
  const words = useWords()
  const navigate = useNavigate()
  const [erasing, setErasing] = useState(false)
  const { id } = view.conversation
  const works = isRunning(view)
  return (
    <>
      <Menu position="bottom-end" width={240} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <button type="button" className="ib" aria-label={words.chat.menu} title={words.chat.menu}>
            <Icon name="dots" />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {showSide !== undefined && <Menu.Item onClick={showSide}>{words.chat.side}</Menu.Item>}
          {view.branches.map((each) => (
            <Menu.Item key={each.id} component={Link} to="/chat/$chatId" params={{ chatId: each.id } as never}>
              {words.chat.branches(1)}: {printable(each.title)}
            </Menu.Item>
          ))}
          <Menu.Item disabled={!view.may.manage || works} onClick={() => setErasing(true)}>
            {words.chat.erase}
            {works && <small className="dim">{words.chat.eraseLater}</small>}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={erasing} onClose={() => setErasing(false)} title={words.chat.eraseQuestion} centered>
        <div className="dialog">
          <p>{words.chat.eraseExplained}</p>
          <div className="dialog-f">
            <button type="button" className="btn" onClick={() => setErasing(false)}>
              {words.frame.cancel}
            </button>
            <button
              type="button"
              className="btn btn-yes"
              onClick={() => {
                setErasing(false)
                void act(erase(id).then(() => navigate({ to: "/chat" })))
              }}
            >
              {words.chat.erase.replace("…", "")}
            </button>
          </div>
        </div>
      </Modal>
    </>
  )
}
