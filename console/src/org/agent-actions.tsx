import { Modal } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState, type ReactNode } from "react"
import type { AgentPanelJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useCommandKeys } from "../answer/use-guard.ts"
import { post } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useFreeze } from "../frame/freeze.tsx"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { agentRoleQuery, changeAgentRole, endQuery, rolesQuery, sendMessage, terminate } from "./queries.ts"
import { RoleChanges } from "./role-preview.tsx"
import look from "./org.module.css"

/** Freeze, thaw, talk, message, another role, the end. */
export function AgentActions({ panel, isGone }: { panel: AgentPanelJson; isGone: boolean }) {
  const words = useWords()
  const text = words.govern.org
  const tell = useTell()
  const problem = useProblemText()
  const { freeze } = useFreeze()
  const { agent, below } = panel
  const may = isGone ? { freeze: false, message: false, manage: false } : panel.may
  const [open, setOpen] = useState<"message" | "role" | "end">()
  const close = () => setOpen(undefined)
  const { frozen } = agent
  const isFrozen = frozen?.agentId === agent.id
  const above = isFrozen ? undefined : frozen?.agentId
  const act: Act = (work, done) =>
    work.then(
      () => {
        close()
        void queries.invalidateQueries({ queryKey: ["org"] })
        if (done !== undefined) tell({ icon: "check", text: done, ms: 8000 })
      },
      (error: unknown) => tell({ icon: "alert-triangle", text: problem(error), ms: 15_000 }),
    )
  const change = () => {
    if (isFrozen) void act(post("/v1/thaw", { agentId: agent.id }))
    else freeze(agent.id)
  }
  useCommandKeys((key) => {
    if (key !== "f" || !may.freeze) return false
    change()
    return true
  })
  return (
    <footer className={look["actions"]}>
      <button type="button" className={`btn btn-l ${look["freeze"]}`} disabled={!may.freeze} onClick={change}>
        <Icon name="snowflake" />
        {isFrozen ? text.thaw(agent.id) : text.freeze(agent.id, below.length)}
        <kbd aria-hidden="true">F</kbd>
      </button>
      {!isGone && (
        <p className="hint">
          <Marked text={above !== undefined ? text.frozenAbove(above) : may.manage ? text.freezeMore : text.mayNot} />
        </p>
      )}
      <div className={look["row"]}>
        <Link to="/chat" search={{ begin: agent.id }} className="btn">
          {text.chat}
        </Link>
        <button type="button" className="btn" disabled={!may.message} onClick={() => setOpen("message")}>
          {text.message}
        </button>
        <button type="button" className="btn" disabled={!may.manage} onClick={() => setOpen("role")}>
          {text.changeRole}
        </button>
        <button type="button" className="btn" disabled={!may.manage} onClick={() => setOpen("end")}>
          {text.terminate}
        </button>
      </div>
      {open === "message" && <MessageForm id={agent.id} may={may.message} act={act} close={close} />}
      {open === "role" && <RoleForm id={agent.id} role={agent.role} may={may.manage} act={act} close={close} />}
      <End id={agent.id} source={agent.source} opened={open === "end"} act={act} close={close} />
    </footer>
  )
}

type Act = (work: Promise<unknown>, done?: string) => Promise<void>

interface FormProps {
  readonly id: string
  readonly act: Act
  readonly close: () => void
}

interface SmallProps {
  readonly submit: () => void
  readonly label: string
  readonly disabled: boolean
  readonly close: () => void
  readonly children: ReactNode
}

function SmallForm({ submit, label, disabled, close, children }: SmallProps) {
  const words = useWords()
  return (
    <form
      className={look["small"]}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {children}
      <button type="submit" className="btn btn-p" disabled={disabled}>
        {label}
      </button>
      <button type="button" className="btn btn-q" onClick={close}>
        {words.frame.cancel}
      </button>
    </form>
  )
}

function MessageForm({ id, may, act, close }: FormProps & { readonly may: boolean }) {
  const { org } = useWords().govern
  const [message, setMessage] = useState("")
  const send = () => void act(sendMessage(id, message.trim()), org.sent(id))
  return (
    <SmallForm submit={send} label={org.send} disabled={!may || message.trim() === ""} close={close}>
      <textarea
        className="in"
        rows={3}
        autoFocus
        aria-label={org.messageTo(id)}
        placeholder={org.messageTo(id)}
        value={message}
        onChange={(event) => setMessage(event.target.value)}
      />
    </SmallForm>
  )
}

function RoleForm({ id, role, may, act, close }: FormProps & { readonly role: string; readonly may: boolean }) {
  const {
    org,
    role: { changes },
  } = useWords().govern
  const { data: roles = [] } = useQuery(rolesQuery)
  const [chosen, setChosen] = useState(role)
  const { data: preview } = useQuery({ ...agentRoleQuery(id, chosen), enabled: chosen !== role })
  const save = () => void act(changeAgentRole(id, chosen))
  return (
    <SmallForm submit={save} label={org.save} disabled={!may || chosen === role} close={close}>
      <Select aria-label={org.newRole} value={chosen} onChange={(event) => setChosen(event.target.value)}>
        {roles.map(({ id: roleId, name }) => (
          <option key={roleId} value={name}>
            {printable(name)}
          </option>
        ))}
      </Select>
      {chosen !== role && (
        <div className={`scroll ${look["brings"]}`} tabIndex={0} role="group" aria-label={changes} aria-live="polite">
          <RoleChanges preview={preview} />
        </div>
      )}
    </SmallForm>
  )
}

/** Shows the effects of ending an agent, before it ends. */
function End({ id, source, opened, act, close }: FormProps & { readonly source: string; readonly opened: boolean }) {
  const words = useWords()
  const { locked, ends, terminateQuestion, terminateNow } = words.govern.org
  const navigate = useNavigate()
  const query = useQuery({ ...endQuery(id), enabled: opened })
  const { data } = query
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={terminateQuestion(id)}
      centered
      closeButtonProps={{ "aria-label": words.frame.close }}
    >
      <div className="dialog">
        {data === undefined && <Loading of={query} lines={2} />}
        {data?.refused !== undefined && (
          <p>
            <Marked text={locked(id, source === "built in")} />
          </p>
        )}
        {data !== undefined && data.refused === undefined && (
          <>
            <p>
              {ends.agents(data.agents.length)} <b>{data.agents.slice(0, 20).join(words.card.comma)}</b>
            </p>
            {data.calls.length > 0 && <p>{ends.calls(data.calls.length)}</p>}
            {data.conversations.length > 0 && <p>{ends.conversations(data.conversations.length)}</p>}
            <p className="soft">{ends.stays}</p>
          </>
        )}
        <div className="dialog-f">
          <button type="button" className="btn" onClick={close}>
            {words.frame.cancel}
          </button>
          <button
            type="button"
            className="btn btn-yes"
            disabled={data === undefined || data.refused !== undefined}
            onClick={() => void act(terminate(id).then(() => navigate({ to: "/organisation" })))}
          >
            {terminateNow}
          </button>
        </div>
      </div>
    </Modal>
  )
}
