import { useMediaQuery } from "@mantine/hooks"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react"
import type { BranchedJson, ChainViewJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { inboxQuery } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { Marked } from "../ui/marked.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useSay, useWords } from "../words/words.tsx"
import { ChatHead, isRunning } from "./chat-head.tsx"
import { Composer, grow } from "./composer.tsx"
import { draftOf } from "./drafts.ts"
import { InlineCard } from "./inline-card.tsx"
import { branch, sideQuery } from "./queries.ts"
import { Side } from "./side.tsx"
import { Turn, WrittenTurn } from "./turn.tsx"
import { withSpeakers, type Turns } from "./turns.ts"
import { useChat, type Chat } from "./use-chat.ts"
import look from "./chat.module.css"

/** One conversation, live. */
export function Conversation({ id }: { id: string }) {
  const words = useWords()
  const chat = useChat(id)
  const wide = useMediaQuery("(min-width: 75em)", true, { getInitialValueInEffect: false })
  const [sideShown, setSideShown] = useState(false)
  const { data: side } = useQuery(sideQuery(id))
  const { view, error } = chat
  if (error !== null && problemOf(error).status === 404) return <Erased id={id} />
  if (view === undefined)
    return (
      <section className={look["stream"]} aria-busy={error === null}>
        {error === null ? (
          <Later>
            <div className={look["turns"]}>
              <div className="sk sk-1" />
              <div className="sk sk-2" />
              <div className="sk sk-3" />
            </div>
          </Later>
        ) : (
          <ProblemBox error={error} retry={chat.again} />
        )}
      </section>
    )
  const { agentId, shown, title } = view.conversation
  const beside = <Side id={id} agentId={agentId} mayManage={view.may.manage} state={<StateTag shown={shown} />} />
  return (
    <>
      <section className={look["stream"]} aria-label={printable(title)} data-conversation={id} data-state={shown}>
        <ChatHead
          view={view}
          maxCost={side?.budget.cost.max}
          again={chat.again}
          showSide={wide ? undefined : () => setSideShown(!sideShown)}
        />
        {view.conversation.elsewhere && (
          <p className="strip strip-page strip-ask">
            <Icon name="info-circle" />
            <span>
              <Marked text={words.chat.elsewhere} />
            </span>
          </p>
        )}
        {sideShown && !wide ? beside : <Stream chat={chat} view={view} role={side?.role} />}
        <Composer
          view={view}
          again={chat.again}
          model={side && (side.models.find(({ name }) => name === side.model.next) ?? side.model)}
        />
      </section>
      {wide && beside}
    </>
  )
}

function StateTag({ shown }: { shown: ChainViewJson["conversation"]["shown"] }) {
  const words = useWords()
  const tones = { working: "tag-ok", waiting: "tag-ask", failed: "tag-deny", done: "", stopped: "" } as const
  return <span className={`tag ${tones[shown]}`}>{words.chat.state[shown]}</span>
}

interface StreamProps {
  readonly chat: Chat
  readonly view: ChainViewJson
  readonly role: string | undefined
}

/** The messages, calls and cards in their order, and the answer that is being written. */
function Stream({ chat, view, role }: StreamProps) {
  const words = useWords()
  const { turns, written, older } = chat
  const { agentId, id } = view.conversation
  const { data: inbox } = useQuery(inboxQuery)
  const scroller = useRef<HTMLDivElement>(null)
  const { isAtEnd, toEnd, hold } = useFollow(scroller, [turns, written, view.waitingBelow])
  const [editing, setEditing] = useState<{ index: number; text: string }>()
  const agent = useMemo(() => ({ id: agentId, role }), [agentId, role])
  const spoken = useMemo(() => withSpeakers(turns), [turns])
  const lastMessage = turns.findLast((turn) => turn.kind === "message" && turn.begins && turn.from === "person")?.index
  const mayEdit = view.may.manage && !isRunning(view)
  const edit = useCallback((index: number, text: string) => setEditing({ index, text }), [])
  const below = useLingering(view.waitingBelow)
  const keys = firstOpenCard(
    turns,
    view,
    inbox?.items.map(({ callId }) => callId),
  )
  return (
    <div className={look["place"]}>
      <div
        ref={scroller}
        className="scroll"
        tabIndex={0}
        role="log"
        aria-label={words.chat.conversation}
        data-card-scroll
        onClickCapture={({ target }) => target instanceof Element && target.closest(opens) !== null && hold()}
        onScroll={({ currentTarget }) => currentTarget.scrollTop < 600 && older?.()}
      >
        <div className={look["turns"]}>
          {older !== undefined && (
            <button type="button" className="linklike" onClick={older}>
              {words.chat.older}
            </button>
          )}
          {spoken.map(({ turn, speaks }) =>
            editing?.index === turn.index ? (
              <EditMessage key={turn.index} id={id} {...editing} close={() => setEditing(undefined)} />
            ) : (
              <Turn
                key={turn.index}
                chatId={id}
                turn={turn}
                speaks={speaks}
                agent={agent}
                keys={turn.kind === "answer" && turn.calls.some(({ card }) => card === keys) ? keys : undefined}
                edit={mayEdit && turn.index === lastMessage ? edit : undefined}
              />
            ),
          )}
          {written !== undefined && (
            <WrittenTurn
              written={written}
              agent={agent}
              speaks={turns.findLast(({ kind }) => kind !== "note")?.kind !== "answer"}
            />
          )}
          {below.map(({ card, agentId: who, task, depth }) => (
            <section key={card} className={look["sub"]} data-depth={depth} aria-label={who}>
              {depth > 0 && (
                <h2 className={look["subHead"]}>
                  <Icon name="corner-down-right" small />
                  <b>{who}</b>
                  <span className="dim cut" title={printable(task)}>
                    {words.chat.under(agentId, printable(task))}
                  </span>
                </h2>
              )}
              <InlineCard callId={card} hasKeys={card === keys} />
            </section>
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className={`btn btn-s ${look["toEnd"]}`} onClick={toEnd}>
          <Icon name="arrow-down" small />
          {words.chat.toEnd}
        </button>
      )}
    </div>
  )
}

/** The card that the keys answer: the first that is open. */
function firstOpenCard(turns: Turns, view: ChainViewJson, waiting: readonly string[] | undefined): string | undefined {
  const own = turns.flatMap((turn) => (turn.kind === "answer" ? turn.calls.flatMap(({ card }) => card ?? []) : []))
  return [...own, ...view.waitingBelow.map(({ card }) => card)].find((card) => waiting?.includes(card) === true)
}

/** Cards of agents below stay where they are for some seconds after they were answered. */
function useLingering(waiting: ChainViewJson["waitingBelow"]): ChainViewJson["waitingBelow"] {
  const [shown, setShown] = useState(waiting)
  useEffect(() => {
    setShown((before) => [...before.filter((each) => !waiting.some(({ card }) => card === each.card)), ...waiting])
    const timer = setTimeout(() => setShown(waiting), 8000)
    return () => clearTimeout(timer)
  }, [waiting])
  return shown
}

/** The elements that show more or less when clicked. Nothing moves under the pointer then. */
const opens = "[aria-expanded], summary, [aria-pressed]"

/** Follows the end of a conversation while somebody looks at it; whoever scrolled up is left where they are. */
function useFollow(scroller: RefObject<HTMLDivElement | null>, news: readonly unknown[]) {
  const [isAtEnd, setAtEnd] = useState(true)
  const follows = useRef(true)
  useEffect(() => {
    const place = scroller.current
    if (place === null) return undefined
    const rest = () => place.scrollHeight - place.scrollTop - place.clientHeight
    const look = () => {
      follows.current = rest() < 80
      setAtEnd(follows.current)
    }
    place.addEventListener("scroll", look, { passive: true })
    // Images, cards and blocks of code get their height later.
    const resized = new ResizeObserver(() => {
      if (follows.current) return place.scrollTo({ top: place.scrollHeight })
      follows.current = rest() < 2
      setAtEnd(rest() < 80)
    })
    if (place.firstElementChild !== null) resized.observe(place.firstElementChild)
    return () => {
      place.removeEventListener("scroll", look)
      resized.disconnect()
    }
  }, [scroller])
  useLayoutEffect(() => {
    const place = scroller.current
    if (follows.current && place !== null) place.scrollTop = place.scrollHeight
    // oxlint-disable-next-line react/exhaustive-deps -- The caller says what is new.
  }, news)
  const toEnd = () => {
    follows.current = true
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }
  const hold = () => {
    follows.current = false
  }
  return { isAtEnd, toEnd, hold }
}

interface EditProps {
  readonly id: string
  readonly index: number
  readonly text: string
  readonly close: () => void
}

/** The last message, changed and sent again: the conversation goes on in a branch. */
function EditMessage({ id, index, text, close }: EditProps) {
  const words = useWords()
  const problem = useProblemText()
  const say = useSay()
  const navigate = useNavigate()
  const [edited, setEdited] = useState(text)
  const [state, setState] = useState<{ sending: boolean; error?: unknown; made?: BranchedJson }>({ sending: false })
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => grow(field.current), [edited])
  const open = (made: BranchedJson) => void navigate({ to: "/chat/$chatId", params: { chatId: made.id } })
  const send = async () => {
    setState({ sending: true })
    try {
      const made = await branch(id, edited.trim(), index)
      if (made.stays.length === 0) open(made)
      else setState({ sending: false, made })
    } catch (error) {
      setState({ sending: false, error })
    }
  }
  if (state.made !== undefined)
    return (
      <div className={look["edit-box"]} role="status">
        <p>
          <Marked text={words.chat.stays(state.made.stays.length)} />
        </p>
        <ul className={look["stays"]}>
          {state.made.stays.map(({ callId, tool, title }) => (
            <li key={callId}>
              <Link to="/audit/$callId" params={{ callId }}>
                {say(title)}
              </Link>{" "}
              <code className="dim">{tool}</code>
            </li>
          ))}
        </ul>
        <p className="dialog-f">
          <button type="button" className="btn btn-p" onClick={() => state.made && open(state.made)}>
            {words.states.next}
          </button>
        </p>
      </div>
    )
  return (
    <form
      className={look["edit-box"]}
      aria-label={words.chat.edit}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        ref={field}
        className="in"
        aria-label={words.chat.message}
        value={edited}
        autoFocus
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && close()}
      />
      <p className="hint">{words.chat.editMore}</p>
      {state.error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(state.error)}
        </p>
      )}
      <p className="dialog-f">
        <button type="button" className="btn" onClick={close}>
          {words.frame.cancel}
        </button>
        <button type="submit" className="btn btn-p" disabled={state.sending || edited.trim() === ""}>
          {words.chat.send}
        </button>
      </p>
    </form>
  )
}

/** A conversation that was erased meanwhile. What was typed in it is not lost. */
function Erased({ id }: { id: string }) {
  const words = useWords()
  const typed = draftOf(id)
  return (
    <section className={`${look["stream"]} ${look["erased"]}`} data-state="gone">
      <h1>{words.chat.erased}</h1>
      <p className="soft">
        {words.chat.erasedMore} {typed !== "" && words.chat.typed}
      </p>
      {typed !== "" && <CopyText text={typed} />}
      <Link to="/chat" className="btn">
        {words.chat.title}
      </Link>
    </section>
  )
}
