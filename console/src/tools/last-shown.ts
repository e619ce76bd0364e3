import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { managesOrganisation, type AgentInfo } from "./queries.ts"
import type { ToolAddress } from "./tool-address.ts"

const storageKey = "qm-playground-agent"

/** The agent that this browser chose last. */
export const chosenAgent = () => localStorage.getItem(storageKey) ?? undefined
export const rememberAgent = (id: string) => localStorage.setItem(storageKey, id)

/** The tool that the playground showed last, until the page is loaded anew. */
let tool: ToolAddress | undefined
export const lastTool = () => tool
export const rememberTool = (address: ToolAddress | undefined) => {
  tool = address
}

/** The agent with the most tools, so that a first call is not refused; one that manages the organisation only if all do. */
export function agentWithMostTools(agents: readonly AgentInfo[], tools: readonly ToolInfo[]): AgentInfo | undefined {
  const count = ({ groups }: AgentInfo) =>
    tools.filter(({ group }) => groups === null || groups?.includes(group) === true).length
  const [first] = agents.toSorted(
    (one, other) => Number(managesOrganisation(one)) - Number(managesOrganisation(other)) || count(other) - count(one),
  )
  return first
}
