import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import type { TreeAgentJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { queries } from "../api/live.ts"
import { Select } from "../ui/select.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { createAgent, rolesQuery } from "./queries.ts"
import look from "./org.module.css"

/** Makes an agent: its name, its role, and below whom. */
export function NewAgent({ agents, close }: { agents: readonly TreeAgentJson[]; close: () => void }) {
  const words = useWords()
  const text = words.govern.org
  const problem = useProblemText()
  const navigate = useNavigate()
  const { data: roles = [] } = useQuery(rolesQuery)
  const [id, setId] = useState("")
  const [role, setRole] = useState<string>()
  const [parent, setParent] = useState("")
  const [error, setError] = useState<unknown>()
  const chosen = role ?? roles[0]?.name ?? ""
  const submit = async () => {
    try {
      const made = await createAgent({ id: id.trim(), role: chosen, ...(parent === "" ? {} : { parentId: parent }) })
      for (const topic of ["org", "people"]) void queries.invalidateQueries({ queryKey: [topic] })
      close()
      void navigate({ to: "/organisation/agents/$agentId", params: { agentId: made.id } })
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <form
      className={look["making"]}
      aria-label={text.newAgent}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <input
        className="in"
        aria-label={text.name}
        placeholder={text.name}
        autoFocus
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
      <Select aria-label={text.role} value={chosen} onChange={(event) => setRole(event.target.value)}>
        {roles.map(({ id: roleId, name }) => (
          <option key={roleId} value={name}>
            {printable(name)}
          </option>
        ))}
      </Select>
      <Select aria-label={text.parent} value={parent} onChange={(event) => setParent(event.target.value)}>
        <option value="">{text.parent}…</option>
        {agents.slice(0, 500).map(({ id: agentId }) => (
          <option key={agentId}>{agentId}</option>
        ))}
      </Select>
      <button type="submit" className="btn btn-p" disabled={id.trim() === "" || chosen === ""}>
        {text.create}
      </button>
      <button type="button" className="btn btn-q" onClick={close}>
        {words.frame.cancel}
      </button>
      {error !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(error)}
        </p>
      )}
    </form>
  )
}
