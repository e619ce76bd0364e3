import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { createPortal } from "react-dom"
import { useMe } from "../api/queries.ts"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { Marked } from "../ui/marked.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { useWords } from "../words/words.tsx"
import { AgentPicker } from "./agent-picker.tsx"
import { Outcome } from "./outcome.tsx"
import { agentsQuery, managesOrganisation, toolsQuery, type AgentInfo } from "./queries.ts"
import { agentWithMostTools, chosenAgent, lastTool, rememberAgent, rememberTool } from "./last-shown.ts"
import { lastRequest } from "./run.ts"
import { addressOf, callName, toolAt, type ToolAddress } from "./tool-address.ts"
import { ToolList } from "./tool-list.tsx"
import { ToolPanel } from "./tool-panel.tsx"
import look from "./tools.module.css"

const route = getRouteApi("/frame/tools/")

/** Every tool as a form that calls it as any agent, and what became of the call. */
export function Playground() {
  const words = useWords()
  const search = route.useSearch()
  const { tool: name, agent: wanted } = search
  const navigate = route.useNavigate()
  const tools = useQuery(toolsQuery)
  const agents = useQuery(agentsQuery)
  const agent = useAgent(agents.data ?? [], tools.data ?? [], wanted)
  const tool = toolAt(tools.data ?? [], search)
  useLastTool(search)

  if (tools.data === undefined || agents.data === undefined) {
    const failed = tools.error ?? agents.error
    if (failed === null) return <Loading />
    return <ProblemBox error={failed} retry={() => void Promise.all([tools.refetch(), agents.refetch()])} />
  }
  return (
    <div className={look["play"]} data-view={name === undefined ? "list" : "tool"}>
      <InHead>
        <AgentPicker
          agents={agents.data}
          chosen={agent?.id}
          choose={(id) => {
            rememberAgent(id)
            void navigate({ search: (before) => ({ ...before, agent: id }), replace: true })
          }}
        />
      </InHead>
      <ToolList tools={tools.data} agent={agent} shown={tool} />
      {tool !== undefined ? (
        <ToolPanel
          key={`${tool.name}@${tool.version} ${tool.layer}`}
          tool={tool}
          name={callName(tool, tools.data)}
          agent={agent}
        />
      ) : (
        <section className={`${look["play-form"]} play-empty`}>
          <p>
            <b>{name === undefined ? words.tools.choose : words.tools.noSuchTool(name)}</b>
          </p>
          <p className="soft">{words.tools.chooseMore}</p>
          <ul className={look["tries"]}>
            {tries(tools.data, agent).map((each) => (
              <li key={each.name}>
                <Link to="/tools" search={(before) => ({ ...before, ...addressOf(each, tools.data) })}>
                  <b className="mono">{each.name}</b>
                  <span className="soft">{words.tools.levelMore[each.level]}</span>
                  <Icon name="chevron-right" small />
                </Link>
              </li>
            ))}
          </ul>
          {agents.data.length === 0 && (
            <p className="soft">
              <Marked text={words.tools.noAgents} />
            </p>
          )}
        </section>
      )}
      <Outcome />
    </div>
  )
}

/** A tool of each level that the agent has: one that reads, one that writes, one that runs something. */
function tries(tools: readonly ToolInfo[], agent: AgentInfo | undefined): readonly ToolInfo[] {
  const groups = agent?.groups
  const usable = tools.filter(
    ({ group, destructive }) => !destructive && (groups === null || groups?.includes(group) === true),
  )
  const pairs = [
    ["public", "read"],
    ["moderate", "write"],
    ["sensitive", "execute"],
  ] as const
  return pairs.flatMap(([level, effect]) => {
    const [best] = usable
      .filter((tool) => tool.level === level)
      .toSorted(
        (one, other) => Number(other.effect === effect) - Number(one.effect === effect) || other.calls - one.calls,
      )
    return best ?? []
  })
}

/** The agent of the address or chosen before; else the one with the most tools that this person may use. */
function useAgent(agents: readonly AgentInfo[], tools: readonly ToolInfo[], wanted: string | undefined) {
  const { scopes } = useMe()
  const usable = agents.filter((agent) => scopes.includes("manage") || !managesOrganisation(agent))
  const find = (among: readonly AgentInfo[], id: string | undefined) => among.find((agent) => agent.id === id)
  return find(agents, wanted) ?? find(usable, chosenAgent()) ?? agentWithMostTools(usable, tools)
}

/** Whoever comes back, for example after answering a card, finds the tool that they left. */
function useLastTool(shown: ToolAddress) {
  const navigate = route.useNavigate()
  const [back] = useState(() => (shown.tool === undefined ? (lastTool() ?? calledTool()) : undefined))
  useEffect(() => {
    if (back !== undefined) void navigate({ search: (before) => ({ ...before, ...back }), replace: true })
  }, [back, navigate])
  useEffect(() => {
    const { tool, version, layer } = shown
    rememberTool(
      tool === undefined
        ? undefined
        : { tool, ...(version === undefined ? {} : { version }), ...(layer === undefined ? {} : { layer }) },
    )
  }, [shown])
}

/** The tool that was called last, from its name or `name@version`. */
function calledTool(): ToolAddress | undefined {
  const [tool, version] = lastRequest()?.tool.split("@") ?? []
  return tool === undefined ? undefined : { tool, ...(version === undefined ? {} : { version }) }
}

/** Puts something into the page's head, where it belongs to what is shown below. */
function InHead({ children }: { children: React.ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null)
  useEffect(() => setPlace(document.getElementById("head-side")), [])
  return place === null ? null : createPortal(children, place)
}

function Loading() {
  return (
    <Later>
      <div className={look["play"]} aria-busy="true">
        <div className={look["tools"]}>
          <div className="sks">
            {Array.from({ length: 12 }, (_, at) => (
              <div className="sk" key={`${at}`} />
            ))}
          </div>
        </div>
      </div>
    </Later>
  )
}
