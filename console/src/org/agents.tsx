import { useMediaQuery } from "@mantine/hooks"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { useDeferredValue, useMemo, useState } from "react"
import { Now } from "../activity/now.tsx"
import { useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { useWords } from "../words/words.tsx"
import { AgentPanel } from "./agent-panel.tsx"
import { branchesOf, findIn } from "./arrange.ts"
import { NewAgent } from "./new-agent.tsx"
import { treeQuery } from "./queries.ts"
import { Tree } from "./tree.tsx"
import look from "./org.module.css"

/** The live tree of agents, what happens now below it, and the chosen agent beside it. */
export function Agents() {
  const words = useWords()
  const text = words.govern.org
  const { agentId } = useParams({ strict: false })
  const { scopes } = useMe()
  const wide = useMediaQuery("(min-width: 75em)", true, { getInitialValueInEffect: false })
  const query = useQuery(treeQuery)
  const { data } = query
  const [search, setSearch] = useState("")
  const [making, setMaking] = useState(false)
  // Undefined: each branch as it is at first.
  const [unfolded, setUnfolded] = useState<boolean>()
  const branches = useMemo(() => branchesOf(data?.agents ?? []), [data])
  const wanted = useDeferredValue(search)
  const found = useMemo(() => findIn(branches, wanted), [branches, wanted])
  return (
    <div className={look["agents"]}>
      {(wide || agentId === undefined) && (
        <div className={look["main"]}>
          <div className={look["tools"]}>
            <input
              className="in"
              type="search"
              aria-label={text.find}
              placeholder={text.find}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
            {branches.some(({ count }) => count > 8) && (
              <button type="button" className="btn btn-s btn-q" onClick={() => setUnfolded(unfolded !== true)}>
                {unfolded === true ? text.foldAll : text.unfoldAll}
              </button>
            )}
            <span className="grow" />
            {scopes.includes("manage") && (
              <button type="button" className="btn btn-s" onClick={() => setMaking(!making)}>
                <Icon name="plus" small />
                {text.newAgent}
              </button>
            )}
          </div>
          {making && <NewAgent agents={data?.agents ?? []} close={() => setMaking(false)} />}
          {data === undefined ? (
            <Loading of={query} lines={4} />
          ) : (
            <Tree
              key={String(unfolded)}
              branches={found}
              all={data.agents.length}
              unfolded={unfolded}
              searched={wanted.trim() !== ""}
              shown={agentId}
            />
          )}
          <Now />
        </div>
      )}
      {agentId !== undefined ? (
        <AgentPanel key={agentId} id={agentId} />
      ) : (
        wide && <p className={`${look["nothing"]} soft`}>{text.choose}</p>
      )}
    </div>
  )
}
