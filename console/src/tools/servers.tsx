import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { McpServerState } from "../../../src/core/mcp.ts"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { Marked } from "../ui/marked.tsx"
import { useWords } from "../words/words.tsx"
import { Pins } from "./pins.tsx"
import { serversQuery } from "./queries.ts"
import look from "./tools.module.css"

const dots: Readonly<Record<McpServerState["state"], string>> = {
  connected: "dot-live",
  connecting: "dot-wait",
  waiting: "dot-wait",
  open: "dot-deny",
  refused: "dot-deny",
  resting: "",
  disabled: "",
}

/** The MCP servers, how they are, and the definitions of their tools that people have trusted. */
export function Servers() {
  const words = useWords()
  const query = useQuery(serversQuery)
  const { data } = query
  if (data === undefined) return <Loading of={query} lines={2} />
  if (data.length === 0)
    return (
      <div className="play-empty">
        <p>
          <b>{words.tools.serversNone}</b>
        </p>
        <p className="soft">
          <Marked text={words.tools.serversNoneMore} />
        </p>
      </div>
    )
  return (
    <div className={`scroll ${look["srvs"]}`}>
      {data.map((server) => (
        <Server key={server.name} server={server} />
      ))}
    </div>
  )
}

function Server({ server }: { server: McpServerState }) {
  const words = useWords()
  const { name, state, transport, tools, quarantined, restarts, problem, protocolVersion } = server
  const [toggled, setToggled] = useState<boolean>()
  const isOpen = toggled ?? quarantined > 0
  const [first, ...rest] = (problem ?? "").split("\n")
  return (
    <section className={look["srv"]} aria-labelledby={`server-${name}`}>
      <header className={look["srv-h"]}>
        <h2 id={`server-${name}`} className="mono">
          {name}
        </h2>
        <span className={look["srv-s"]}>
          <i className={`dot ${dots[state]}`} />
          {words.tools.state[state]}
        </span>
        {quarantined > 0 && <span className="tag tag-ask">{words.tools.toLookAt(quarantined)}</span>}
        <span className="grow" />
        <button type="button" className="btn btn-s" aria-expanded={isOpen} onClick={() => setToggled(!isOpen)}>
          {words.tools.toolCount(tools + quarantined)}
          <Icon name={isOpen ? "chevron-down" : "chevron-right"} small />
        </button>
      </header>
      <div className="facts">
        <span>{transport}</span>
        {protocolVersion !== undefined && <span>{words.tools.protocol(protocolVersion)}</span>}
        {restarts > 0 && <span>{words.tools.restarts(restarts)}</span>}
      </div>
      {problem !== undefined && (
        <div className="strip strip-deny" role="note">
          <Icon name="alert-triangle" />
          <div className="grow">
            <p>{first}</p>
            {rest.length > 0 && (
              <details className="fold">
                <summary>{words.steps.output}</summary>
                <pre className="blk">{rest.join("\n")}</pre>
              </details>
            )}
          </div>
        </div>
      )}
      {isOpen && <Pins server={name} />}
    </section>
  )
}
