import { useMe } from "../api/queries.ts"
import { Select } from "../ui/select.tsx"
import { useWords } from "../words/words.tsx"
import { managesOrganisation, type AgentInfo } from "./queries.ts"

interface Props {
  readonly agents: readonly AgentInfo[]
  readonly chosen: string | undefined
  readonly choose: (id: string) => void
}

/** As which agent the tool is called. Who could change the organisation is only for people who may manage. */
export function AgentPicker({ agents, chosen, choose }: Props) {
  const words = useWords()
  const { scopes } = useMe()
  const mayManage = scopes.includes("manage")
  return (
    <label className="picker">
      <span className="dim wide-only">{words.tools.callAs}</span>
      <Select
        className="select-s"
        aria-label={words.tools.callAs}
        value={chosen ?? ""}
        onChange={(event) => choose(event.target.value)}
      >
        {chosen === undefined && <option value="">{words.tools.chooseAgent}</option>}
        {agents.map((agent) => {
          const isClosed = managesOrganisation(agent) && !mayManage
          const role = agent.roleName === undefined || agent.roleName === agent.id ? "" : `, ${agent.roleName}`
          return (
            <option key={agent.id} value={agent.id} disabled={isClosed}>
              {`${agent.id}${role}${isClosed ? ` (${words.tools.onlyManage})` : ""}`}
            </option>
          )
        })}
      </Select>
    </label>
  )
}
