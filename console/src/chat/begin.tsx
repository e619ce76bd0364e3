import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { useMe } from "../api/queries.ts"
import { queries } from "../api/live.ts"
import { agentsQuery, managesOrganisation } from "../tools/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { grow } from "./composer.tsx"
import { draftOf, keepDraft } from "./drafts.ts"
import { useLikelyAgent } from "./likely-agent.ts"
import { begin, modelsQuery } from "./queries.ts"
import look from "./begin.module.css"

const draft = "new"
const lastAgent = "qm-chat-agent"

/** Begins a conversation with an agent that the person may call as. */
export function Begin() {
  const words = useWords()
  const problem = useProblemText()
  const navigate = useNavigate()
  const { scopes } = useMe()
  const { data: agents = [] } = useQuery(agentsQuery)
  const { data: models } = useQuery({ ...modelsQuery, enabled: scopes.includes("read") })
  const mayManage = scopes.includes("manage")
  const open = agents.filter((agent) => mayManage || !managesOrganisation(agent))
  const { begin: asked } = useSearch({ strict: false })
  const [picked, setPicked] = useState<string>()
  const chosen = picked ?? asked ?? localStorage.getItem(lastAgent)
  const likely = useLikelyAgent(open)
  const agent = open.find(({ id }) => id === chosen) ?? likely
  const [text, setText] = useState(() => draftOf(draft))
  const [state, setState] = useState<{ sending: boolean; error?: unknown }>({ sending: false })
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => grow(field.current), [text])
  useEffect(() => field.current?.focus({ preventScroll: true }), [])

  const send = async () => {
    if (agent === undefined || text.trim() === "" || state.sending) return
    setState({ sending: true })
    try {
      const { id } = await begin({ agentId: agent.id, message: text.trim() })
      keepDraft(draft, "")
      localStorage.setItem(lastAgent, agent.id)
      void queries.invalidateQueries({ queryKey: ["chats"] })
      void navigate({ to: "/chat/$chatId", params: { chatId: id } })
    } catch (error) {
      setState({ sending: false, error })
    }
  }
  return (
    <section className={look["begin"]} aria-labelledby="begin-title">
      <Link to="/chat" className={`ib phone-only ${look["back"]}`} aria-label={words.pages.chat}>
        <Icon name="chevron-left" />
      </Link>
      <form
        className={look["form"]}
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <h2 id="begin-title">{words.chat.begin}</h2>
        <p className="soft">{words.chat.beginMore}</p>
        {models?.length === 0 && (
          <p className="strip strip-ask">
            <Icon name="alert-triangle" />
            <span>
              <Marked text={words.chat.noModel} />
            </span>
          </p>
        )}
        {!scopes.includes("call") && (
          <p className="hint">
            <Marked text={words.chat.mayNotCall} />
          </p>
        )}
        <label className="picker">
          <span className="dim">{words.chat.withAgent}</span>
          <Select
            className="select-s"
            aria-label={words.chat.withAgent}
            value={agent?.id ?? ""}
            onChange={(event) => setPicked(event.target.value)}
          >
            {open.map(({ id, roleName }) => (
              <option key={id} value={id}>
                {roleName === undefined || roleName === id ? id : `${id}, ${roleName}`}
              </option>
            ))}
          </Select>
        </label>
        <textarea
          ref={field}
          className="in"
          rows={3}
          aria-label={words.chat.message}
          placeholder={words.chat.firstMessage}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            keepDraft(draft, event.target.value)
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        {state.error !== undefined && (
          <p className="hint hint-wrong" role="alert">
            {problem(state.error)}
          </p>
        )}
        <p className={look["foot"]}>
          <button
            type="submit"
            className="btn btn-l btn-p"
            disabled={state.sending || text.trim() === "" || agent === undefined || !scopes.includes("call")}
          >
            {words.chat.send}
            <kbd aria-hidden="true">↵</kbd>
          </button>
        </p>
      </form>
    </section>
  )
}
