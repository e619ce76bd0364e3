import { Link } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import { findTools, groupTools, type ToolGroup } from "./arrange.ts"
import type { AgentInfo } from "./queries.ts"
import { addressOf } from "./tool-address.ts"
import look from "./tools.module.css"

interface Props {
  readonly tools: readonly ToolInfo[]
  readonly agent: AgentInfo | undefined
  readonly shown: ToolInfo | undefined
}

/** All tools by group or layer. Groups that the agent has not are at the end, closed. */
export function ToolList({ tools, agent, shown }: Props) {
  const words = useWords()
  const [search, setSearch] = useState("")
  const [by, setBy] = useState<"group" | "layer">("group")
  const found = findTools(tools, search)
  const groups = groupTools(found, by)
  const has = ({ name }: ToolGroup) =>
    by === "layer" || agent === undefined || agent.groups === null || agent.groups?.includes(name) === true
  const without = groups.filter((group) => !has(group))
  const hasLayers = new Set(tools.map(({ layer }) => layer)).size > 1
  return (
    <aside className={look["tools"]}>
      <div className={look["tools-s"]}>
        <label className={`in ${look["in-s"]}`}>
          <Icon name="search" small />
          <span className="vh">{words.tools.find}</span>
          <input
            className={look["bare"]}
            type="search"
            placeholder={words.tools.findMore}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </label>
        {hasLayers && (
          <div className="seg" role="group" aria-label={words.tools.arrange}>
            <button type="button" aria-pressed={by === "group"} onClick={() => setBy("group")}>
              {words.tools.byGroup}
            </button>
            <button type="button" aria-pressed={by === "layer"} onClick={() => setBy("layer")}>
              {words.tools.byLayer}
            </button>
          </div>
        )}
      </div>
      <nav className="scroll" aria-label={words.tools.list}>
        <ul className={look["tgs"]}>
          {groups.filter(has).map((group) => (
            <Group key={group.name} group={group} tools={tools} shown={shown} open={search !== "" || by === "layer"} />
          ))}
          {without.length > 0 && agent !== undefined && (
            <li className={look["tg-none"]}>
              <p className="hint">{words.tools.noneOfThese(agent.id)}</p>
              <ul>
                {without.map((group) => (
                  <Group key={group.name} group={group} tools={tools} shown={shown} open={search !== ""} closed />
                ))}
              </ul>
            </li>
          )}
        </ul>
        {found.length === 0 && (
          <p className={`hint ${look["tg-n"]}`}>{tools.length === 0 ? words.tools.noneYet : words.tools.nothing}</p>
        )}
      </nav>
    </aside>
  )
}

interface GroupProps {
  readonly group: ToolGroup
  readonly tools: readonly ToolInfo[]
  readonly shown: ToolInfo | undefined
  readonly open: boolean
  readonly closed?: boolean
}

function Group({ group, tools, shown, open, closed = false }: GroupProps) {
  const words = useWords()
  const holdsShown = shown !== undefined && group.tools.includes(shown)
  const [toggled, setToggled] = useState<boolean>()
  const isOpen = open || (toggled ?? (holdsShown || (!closed && group.tools.length <= 12)))
  return (
    <li>
      <button
        type="button"
        className={closed ? `${look["tg"]} ${look["tg-off"]}` : look["tg"]}
        aria-expanded={isOpen}
        onClick={() => setToggled(!isOpen)}
      >
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} small />
        <b>{group.name}</b>
        <span className="dim num">{group.tools.length}</span>
        <span className="grow" />
        {group.toLookAt > 0 && <span className="tag tag-ask">{words.tools.toLookAt(group.toLookAt)}</span>}
        {closed && <Icon name="lock" small />}
      </button>
      {isOpen && (
        <ul>
          {group.tools.map((tool) => (
            <li key={`${tool.name}@${tool.version} ${tool.layer}`}>
              <OneTool tool={tool} isShown={tool === shown} tools={tools} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function OneTool({ tool, isShown, tools }: { tool: ToolInfo; isShown: boolean; tools: readonly ToolInfo[] }) {
  const words = useWords()
  const link = useRef<HTMLAnchorElement>(null)
  const { name, version, level, layer, quarantine, enabled } = tool
  const address = addressOf(tool, tools)
  useEffect(() => {
    if (isShown) link.current?.scrollIntoView({ block: "nearest" })
  }, [isShown])
  return (
    <Link
      ref={link}
      className={look["tt"]}
      to="/tools"
      search={(before) => ({ ...address, ...(before.agent === undefined ? {} : { agent: before.agent }) })}
      aria-current={isShown ? "true" : undefined}
      activeProps={{}}
      title={name}
    >
      <code className="grow cut">
        {name.split(":").at(-1)}
        {address.version !== undefined && <span className="dim">@{version}</span>}
        {layer !== "system" && <span className="dim"> {layer}</span>}
      </code>
      {quarantine !== undefined ? (
        <span className="tag tag-ask">{words.tools.quarantined}</span>
      ) : enabled ? (
        <span
          className={level === "sensitive" ? `${look["lv"]} ${look["lv-s"]}` : look["lv"]}
          title={words.tools.levelMore[level]}
        >
          {words.tools.level[level]}
        </span>
      ) : (
        <span className={look["lv"]}>{words.tools.off}</span>
      )}
    </Link>
  )
}
