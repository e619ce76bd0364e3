import { useMediaQuery } from "@mantine/hooks"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { useLikelyAgent } from "../chat/likely-agent.ts"
import { agentsQuery, managesOrganisation } from "../tools/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { Document } from "./document.tsx"
import { documentsQuery, open } from "./queries.ts"
import look from "./documents.module.css"

/** Markdown files of the workspace in which conversations live. */
export function DocumentsPage() {
  const { path } = useSearch({ strict: false })
  const wide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false })
  return (
    <main id="main" className={look["page"]} data-view={path === undefined ? "list" : "card"}>
      {(wide || path === undefined) && <List shown={path} />}
      {path === undefined ? wide && <Nothing /> : <Document key={path} path={path} />}
    </main>
  )
}

function Nothing() {
  const { chat } = useWords()
  return (
    <section className={look["nothing"]}>
      <h2>{chat.document.none}</h2>
      <p className="soft">{chat.document.noneMore}</p>
    </section>
  )
}

function List({ shown }: { shown: string | undefined }) {
  const words = useWords()
  const { data, error, refetch } = useQuery(documentsQuery)
  const wide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false })
  return (
    <aside className={look["list"]} aria-label={words.chat.document.title}>
      <div className="head">
        <h1>{words.pages.documents}</h1>
      </div>
      <Open />
      <div className="scroll" tabIndex={0} role="group" aria-label={words.chat.document.title}>
        {error !== null && data === undefined && <ProblemBox error={error} retry={() => void refetch()} />}
        {data?.length === 0 && (
          <p className={`${look["empty"]} soft`}>{wide ? words.chat.document.name : words.chat.document.noneMore}</p>
        )}
        <ul>
          {(data ?? []).map(({ path, agentId, isOpen }) => (
            <li key={path}>
              <Link
                to="/documents"
                search={{ path }}
                className={look["file"]}
                aria-current={path === shown ? "page" : undefined}
              >
                <Icon name="file-text" />
                <span className="grow cut">{printable(path)}</span>
                <small>
                  {agentId}
                  {isOpen && `${words.card.comma}${words.chat.document.isOpen}`}
                </small>
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </aside>
  )
}

/** Opens a file, or makes one. */
function Open() {
  const words = useWords()
  const problem = useProblemText()
  const navigate = useNavigate()
  const { scopes } = useMe()
  const { data: agents = [] } = useQuery(agentsQuery)
  const mayManage = scopes.includes("manage")
  const callable = agents.filter((agent) => mayManage || !managesOrganisation(agent))
  const [agent, setAgent] = useState<string>()
  const [path, setPath] = useState("")
  const [error, setError] = useState<unknown>()
  const likely = useLikelyAgent(callable)
  const chosen = agent ?? likely?.id
  const submit = async () => {
    const wanted = path.trim()
    if (wanted === "" || chosen === undefined) return
    try {
      const opened = await open(wanted, chosen)
      setPath("")
      setError(undefined)
      void queries.invalidateQueries({ queryKey: ["chats"] })
      void navigate({ to: "/documents", search: { path: opened.path } })
    } catch (failure) {
      setError(failure)
    }
  }
  if (!scopes.includes("call")) return null
  return (
    <form
      className={look["open"]}
      aria-label={words.chat.document.newOne}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <input
        className="in mono"
        aria-label={words.chat.document.path}
        placeholder="notes/release.md"
        value={path}
        onChange={(event) => setPath(event.target.value)}
      />
      <div className={look["openBar"]}>
        <Select
          className="select-s"
          aria-label={words.chat.withAgent}
          value={chosen ?? ""}
          onChange={(event) => setAgent(event.target.value)}
        >
          {callable.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </Select>
        <button type="submit" className="btn btn-s" disabled={path.trim() === ""}>
          {words.chat.document.open}
        </button>
      </div>
      {error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(error)}
        </p>
      )}
    </form>
  )
}
