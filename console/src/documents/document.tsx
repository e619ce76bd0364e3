import { useMediaQuery } from "@mantine/hooks"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from "react"
import { createTwoFilesPatch } from "diff"
import type {
  DocumentConflictJson,
  DocumentJson,
  DocumentSectionJson,
} from "../../../src/interfaces/http/routes/document-schemas.ts"
import type { CallRowJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { queries, useConnection } from "../api/live.ts"
import { inboxQuery, useMe } from "../api/queries.ts"
import { CallRow } from "../chat/call-row.tsx"
import { InlineCard } from "../chat/inline-card.tsx"
import { Markdown } from "../chat/markdown.tsx"
import { useChat } from "../chat/use-chat.ts"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { Marked } from "../ui/marked.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { close, documentQuery, open, save, send, type Saved } from "./queries.ts"
import calls from "../chat/chat.module.css"
import look from "./documents.module.css"

const DiffView = lazy(() => import("../card/diff-view.tsx"))

/** One document: the file, to edit by hand, and beside it the conversation that it holds. */
export function Document({ path }: { path: string }) {
  const words = useWords()
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery(documentQuery(path))
  const wide = useMediaQuery("(min-width: 64em)", true, { getInitialValueInEffect: false })
  const [chosen, setView] = useState<"file" | "sections">()
  if (data === undefined)
    return (
      <section className={look["document"]} aria-busy={error === null}>
        {error === null ? (
          <Later>
            <div className="sk sk-2" />
          </Later>
        ) : (
          <ProblemBox error={error} retry={() => void refetch()} />
        )}
      </section>
    )
  // Where nothing was said yet, there is only something to write.
  const view = chosen ?? (data.conversationId === undefined ? "file" : "sections")
  const views = wide ? undefined : (
    <span className="seg" role="group" aria-label={words.card.view}>
      <button type="button" aria-pressed={view === "sections"} onClick={() => setView("sections")}>
        {words.chat.document.sections}
      </button>
      <button type="button" aria-pressed={view === "file"} onClick={() => setView("file")}>
        {words.chat.document.file}
      </button>
    </span>
  )
  const end = () => close(path).then(() => navigate({ to: "/documents" }))
  return (
    <section className={look["document"]} aria-label={printable(path)} data-document={path}>
      <div className="head">
        <Link to="/documents" className="ib phone-only" aria-label={words.chat.document.title}>
          <Icon name="chevron-left" />
        </Link>
        <h2 className="cut mono" title={printable(path)}>
          {printable(path)}
        </h2>
        <span className="dim wide-only">{data.agentId}</span>
        <span className="grow" />
        {data.isOpen ? (
          <button
            type="button"
            className="btn btn-s"
            title={words.chat.document.protectedNow}
            onClick={() => void end()}
          >
            {words.chat.document.close}
          </button>
        ) : (
          <button type="button" className="btn btn-s" onClick={() => void open(path, undefined).then(() => refetch())}>
            {words.chat.document.open}
          </button>
        )}
      </div>
      <div className={look["columns"]}>
        {(wide || view === "file") && <Editor key={path} document={data} views={views} />}
        {(wide || view === "sections") && <Sections document={data} views={views} />}
      </div>
    </section>
  )
}

const store = (document: DocumentJson) => queries.setQueryData(documentQuery(document.path).queryKey, document)

interface PartProps {
  readonly document: DocumentJson
  /** Chooses between the file and the conversation, where only one of them has room. */
  readonly views: ReactNode
}

/** The whole file as text. It is saved a moment after the last key, and never over what somebody else saved. */
function Editor({ document, views }: PartProps) {
  const words = useWords()
  const problem = useProblemText()
  const { path } = document
  // The typed text, and the revision that it changes. Undefined while the text is the server's.
  const [mine, setMine] = useState<{ text: string; revision: string }>()
  const [conflict, setConflict] = useState<DocumentConflictJson>()
  const [state, setState] = useState<{ saving: boolean; error?: unknown }>({ saving: false })
  const offline = useConnection().state === "lost"
  const field = useRef<HTMLTextAreaElement>(null)
  // The draft stands at the end.
  useEffect(() => {
    const { current } = field
    current?.scrollTo({ top: current.scrollHeight })
    current?.setSelectionRange(current.value.length, current.value.length)
  }, [])

  const put = async (text: string, revision: string) => {
    setState({ saving: true })
    try {
      const done: Saved = await save(path, revision, text)
      setState({ saving: false })
      if ("conflict" in done) return setConflict(done.conflict)
      store(done.saved)
      setConflict(undefined)
      // Text that was typed since stays, on top of what is stored now.
      setMine((now) => (now === undefined || now.text === text ? undefined : { ...now, revision: done.saved.revision }))
    } catch (error) {
      setState({ saving: false, error })
    }
  }
  const latest = useRef(put)
  useEffect(() => {
    latest.current = put
  })
  useEffect(() => {
    if (mine === undefined || conflict !== undefined || offline) return undefined
    const timer = setTimeout(() => void latest.current(mine.text, mine.revision), 1200)
    return () => clearTimeout(timer)
  }, [mine, conflict, offline])

  const text = mine?.text ?? document.markdown
  const status = state.saving
    ? words.chat.document.saving
    : mine === undefined
      ? words.chat.document.saved
      : words.chat.document.unsaved
  return (
    <div className={look["editor"]}>
      <div className={look["bar"]}>
        {views ?? <h3 className="h3">{words.chat.document.file}</h3>}
        <span className="grow" />
        <span className="dim" role="status">
          {status}
        </span>
      </div>
      {state.error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(state.error)}
        </p>
      )}
      {conflict !== undefined && mine !== undefined && (
        <div className={look["conflict"]} role="alert">
          <p>
            <Marked text={words.chat.document.conflict} />
          </p>
          <Difference from={conflict.current.markdown} to={mine.text} path={path} />
          <p className="dialog-f">
            <button
              type="button"
              className="btn btn-s"
              onClick={() => {
                store(conflict.current)
                setMine(undefined)
                setConflict(undefined)
              }}
            >
              {words.chat.document.takeTheirs}
            </button>
            <button
              type="button"
              className="btn btn-s"
              onClick={() => {
                setMine({ text: mine.text, revision: conflict.current.revision })
                setConflict(undefined)
              }}
            >
              {words.chat.document.keepMine}
            </button>
          </p>
        </div>
      )}
      <textarea
        ref={field}
        className="in mono"
        spellCheck={false}
        aria-label={words.chat.document.file}
        value={text}
        onChange={(event) => setMine({ text: event.target.value, revision: mine?.revision ?? document.revision })}
        onKeyDown={(event) => {
          if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey)) return
          event.preventDefault()
          if (mine !== undefined) void put(mine.text, mine.revision)
        }}
      />
    </div>
  )
}

/** The conversation that the file holds, and the draft that can be sent. */
function Sections({ document, views }: PartProps) {
  const { conversationId } = document
  return conversationId === undefined ? (
    <SectionList document={document} views={views} rows={noRows} />
  ) : (
    <WithRows document={document} views={views} conversationId={conversationId} />
  )
}

const noRows: ReadonlyMap<string, CallRowJson> = new Map()

function WithRows({ document, views, conversationId }: PartProps & { conversationId: string }) {
  const { turns, written } = useChat(conversationId)
  const rows = useMemo(
    () =>
      new Map(
        turns.flatMap((turn) =>
          turn.kind === "answer" ? turn.calls.map((call) => [`${turn.index}.${call.place}`, call] as const) : [],
        ),
      ),
    [turns],
  )
  return <SectionList document={document} views={views} rows={rows} written={written?.text} />
}

interface SectionsProps extends PartProps {
  readonly rows: ReadonlyMap<string, CallRowJson>
  readonly written?: string
}

function SectionList({ document, views, rows, written }: SectionsProps) {
  const words = useWords()
  const { data: inbox } = useQuery(inboxQuery)
  const shown = document.sections.filter(({ kind }) => kind !== "draft")
  const waiting = inbox?.items.map(({ callId }) => callId) ?? []
  const cards = shown.flatMap((section) => section.callId ?? rowOf(section, rows)?.card ?? [])
  const keys = cards.find((card) => waiting.includes(card))
  return (
    <div className={look["sections"]}>
      <div className={look["bar"]}>
        {views ?? <h3 className="h3">{words.chat.document.sections}</h3>}
        <span className="grow" />
        {document.conversationId !== undefined && (
          <Link to="/chat/$chatId" params={{ chatId: document.conversationId }}>
            {words.pages.chat}
          </Link>
        )}
      </div>
      <div className="scroll" tabIndex={0} role="log" aria-label={words.chat.conversation} data-card-scroll>
        <div className={look["read"]}>
          {shown.length === 0 && written === undefined && <p className="soft">{words.chat.document.nothingSaid}</p>}
          {shown.map((section, at) => (
            <Section key={`${at}`} section={section} row={rowOf(section, rows)} keys={keys} />
          ))}
          {written !== undefined && <Markdown text={written} isWritten />}
        </div>
      </div>
      <Draft document={document} />
    </div>
  )
}

const rowOf = ({ turn, place }: DocumentSectionJson, rows: ReadonlyMap<string, CallRowJson>) =>
  turn === undefined || place === undefined ? undefined : rows.get(`${turn}.${place}`)

interface SectionProps {
  readonly section: DocumentSectionJson
  readonly row: CallRowJson | undefined
  readonly keys: string | undefined
}

function Section({ section, row, keys }: SectionProps) {
  const words = useWords()
  const { kind, heading, text, callId } = section
  if (row !== undefined && (kind === "tool" || kind === "approval"))
    // The row of a call has its card: what stands beside it in the file says the same.
    return kind === "tool" ? (
      <ul className={calls["calls"]}>
        <CallRow call={row} hasKeys={row.card !== undefined && row.card === keys} />
      </ul>
    ) : null
  if (kind === "approval" && callId !== undefined) return <InlineCard callId={callId} hasKeys={callId === keys} />
  if (kind === "tool" || kind === "approval")
    return (
      <details className={look["folded"]}>
        <summary>{heading ?? kind}</summary>
        <pre className="plain">{printable(text)}</pre>
      </details>
    )
  return (
    <article className={look["section"]} data-kind={kind}>
      {heading !== undefined && <h4>{printable(heading)}</h4>}
      {kind === "quoted" && <span className="tag tag-said">{words.chat.document.quoted}</span>}
      <Markdown text={text} />
    </article>
  )
}

/** Shows a person's unsent text, with its difference against what is in the conversation already. */
function Draft({ document }: { document: DocumentJson }) {
  const words = useWords()
  const problem = useProblemText()
  const { scopes } = useMe()
  const offline = useConnection().state === "lost"
  const [state, setState] = useState<{ sending: boolean; error?: unknown }>({ sending: false })
  const { path, revision, draft, sent } = document
  const submit = async () => {
    setState({ sending: true })
    try {
      const done = await send(path, revision, draft)
      store("conflict" in done ? done.conflict.current : done.saved)
      setState({ sending: false })
    } catch (error) {
      setState({ sending: false, error })
    }
  }
  return (
    <form
      className={look["draft"]}
      aria-label={words.chat.document.draft}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <div className={look["bar"]}>
        <h3 className="h3 grow">{words.chat.document.draft}</h3>
        <button
          type="submit"
          className="btn btn-p"
          disabled={draft.trim() === "" || state.sending || offline || !scopes.includes("call")}
        >
          {words.chat.document.send}
        </button>
      </div>
      {draft.trim() !== "" &&
        (sent === "" ? (
          <p className={look["words"]}>{printable(draft)}</p>
        ) : (
          <Difference from={sent} to={draft} path={path} />
        ))}
      <p className="hint">{draft.trim() === "" ? words.chat.document.draftNone : words.chat.document.draftMore}</p>
      {state.error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problemOf(state.error).status === 409
            ? words.chat.document.conflict.replaceAll("*", "")
            : problem(state.error)}
        </p>
      )}
    </form>
  )
}

function Difference({ from, to, path }: { from: string; to: string; path: string }) {
  const words = useWords()
  const diff = useMemo(() => createTwoFilesPatch(path, path, `${from}\n`, `${to}\n`), [from, to, path])
  return (
    <div className={look["diff"]} tabIndex={0} role="group" aria-label={words.card.differences(printable(path))}>
      <Suspense>
        <DiffView file={{ path, diff }} columns={1} />
      </Suspense>
    </div>
  )
}
