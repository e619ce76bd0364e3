import { useNavigate } from "@tanstack/react-router"
import { memo, useRef, useState, type MouseEvent, type PointerEvent } from "react"
import type { TreeAgentJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { moneyText } from "../chat/amounts.ts"
import { Rail } from "../steps/rail.tsx"
import { ticksOf } from "../steps/ticks.ts"
import { Icon } from "../ui/icon.tsx"
import { agoText, clockText, leftText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { isFoldedAtFirst, type Branch } from "./arrange.ts"
import look from "./org.module.css"

interface Shown {
  readonly all: number
  /** True if all branches begin open, false if all begin folded. */
  readonly unfolded: boolean | undefined
  readonly searched: boolean
  readonly shown: string | undefined
}

/** The agents as a tree. It scrolls, and its ground can be dragged. */
export function Tree({ branches, ...rest }: Shown & { readonly branches: readonly Branch[] }) {
  const words = useWords()
  const from = useRef<{ x: number; y: number; left: number; top: number }>(undefined)
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    const { currentTarget: place, target, pointerType, clientX: x, clientY: y } = event
    if (pointerType !== "mouse" || (target as Element).closest("a, button") !== null) return
    from.current = { x, y, left: place.scrollLeft, top: place.scrollTop }
    place.setPointerCapture(event.pointerId)
  }
  const end = () => {
    from.current = undefined
  }
  const navigate = useNavigate()
  // One listener for a thousand links: each as a component of the router made drawing them half as slow again.
  const open = (event: MouseEvent<HTMLElement>) => {
    const agentId = (event.target as Element).closest<HTMLElement>("a[data-agent]")?.dataset["agent"]
    if (agentId === undefined || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
      return
    event.preventDefault()
    void navigate({ to: "/organisation/agents/$agentId", params: { agentId } })
  }
  return (
    <div
      className={`scroll ${look["canvas"]}`}
      tabIndex={0}
      role="group"
      aria-label={words.govern.org.tree}
      onPointerDown={begin}
      onPointerMove={({ currentTarget, clientX, clientY }) => {
        if (from.current === undefined) return
        const { x, y, left, top } = from.current
        currentTarget.scrollTo(left + x - clientX, top + y - clientY)
      }}
      onPointerUp={end}
      onPointerCancel={end}
    >
      {branches.length === 0 && <p className="soft">{words.govern.org.noneFound}</p>}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- The links in it take the keys. */}
      <ul className={look["tree"]} onClick={open}>
        {branches.map((branch) => (
          <Node key={branch.agent.id} branch={branch} {...rest} />
        ))}
      </ul>
    </div>
  )
}

function Node({ branch, ...rest }: Shown & { readonly branch: Branch }) {
  const { govern } = useWords()
  const [chosen, setChosen] = useState<boolean>()
  const { agent, below, count } = branch
  const atFirst = rest.unfolded === undefined ? isFoldedAtFirst(branch, rest.all) : !rest.unfolded
  const isFolded = !rest.searched && (chosen ?? atFirst)
  return (
    <li className={look["branch"]}>
      <div className={look["place"]}>
        <AgentBox agent={agent} current={agent.id === rest.shown} />
        {below.length > 0 && !rest.searched && (
          <button
            type="button"
            className={`btn btn-s ${look["fold"]}`}
            aria-expanded={!isFolded}
            aria-label={isFolded ? govern.org.unfold(count) : govern.org.fold(count)}
            onClick={() => setChosen(!isFolded)}
          >
            {isFolded ? `+${count}` : "−"}
          </button>
        )}
      </div>
      {below.length > 0 && !isFolded && (
        <ul>
          {below.map((each) => (
            <Node key={each.agent.id} branch={each} {...rest} />
          ))}
        </ul>
      )}
    </li>
  )
}

const dots: Partial<Record<TreeAgentJson["activity"], string>> = {
  working: "dot-run",
  waiting: "dot-wait",
  frozen: "dot-frozen",
}

/** One agent. It has the same size whatever it does, so that nothing moves when it changes. */
const AgentBox = memo(function AgentBox({ agent, current }: { agent: TreeAgentJson; current: boolean }) {
  const words = useWords()
  const text = words.govern.org
  const { id, role, department, level, roleByAgent, createdBy, activity, cost } = agent
  const about = [printable(role), department, level === undefined ? undefined : text.level(level)]
  return (
    <a
      href={`/organisation/agents/${encodeURIComponent(id)}`}
      className={look["node"]}
      aria-current={current ? "page" : undefined}
      data-agent={id}
      data-activity={activity}
    >
      <span className={look["nodeHead"]}>
        <i className={`dot ${dots[activity] ?? ""}`} />
        <b className="cut">{id}</b>
        {roleByAgent && <span className="tag tag-said">{text.roleBy(printable(createdBy))}</span>}
        <span className="grow" />
        <span className="num dim">{moneyText(cost)}</span>
      </span>
      <span className={`${look["nodeRole"]} cut`}>
        {about.filter((part) => part !== undefined).join(words.card.comma)}
      </span>
      <span className={look["nodeDoes"]}>
        <Doing agent={agent} />
      </span>
    </a>
  )
})

/** Shows the present activity of an agent, in a line. */
export function Doing({ agent }: { agent: TreeAgentJson }) {
  const words = useWords()
  const text = words.govern.org
  const { activity, running, questions, frozen, waitsFor, runEnded } = agent
  if (frozen !== undefined || running.length > 0 || questions.length > 0) return <DoingSince agent={agent} />
  const waits = activity === "delegated" && waitsFor.length > 0
  return (
    <span className="cut">
      {waits
        ? text.waitsFor(waitsFor.join(words.card.comma))
        : activity === "idle" && runEnded
          ? text.runEnded
          : text.doing[activity]}
    </span>
  )
}

/** Shows the time of a state that lasts: it was frozen, a call runs, or it waits for a person. */
function DoingSince({ agent: { running, questions, frozen } }: { agent: TreeAgentJson }) {
  const words = useWords()
  const text = words.govern.org
  const [call] = running
  const [question] = questions
  const now = useServerTime(call === undefined && question === undefined ? 60_000 : 1000)
  if (frozen !== undefined)
    return (
      <>
        <Icon name="snowflake" small />
        <span className="cut">{text.frozenBy(printable(frozen.by), agoText(now - frozen.at, words))}</span>
      </>
    )
  if (call !== undefined)
    return (
      <>
        <Rail ticks={ticksOf({ state: "running", asked: false, held: false })} label={words.steps.runs} />
        <span className="cut">{`${call.tool}${words.card.comma}${clockText(now - call.since)}`}</span>
      </>
    )
  if (question !== undefined) {
    const held = question.kind === "result"
    const left = words.time.left(leftText(question.until - now, words))
    return (
      <>
        <Rail
          ticks={ticksOf({ state: held ? "held" : "waiting", asked: !held, held })}
          label={held ? words.steps.isHeld : words.steps.waits}
        />
        <span className="cut">{`${held ? words.inbox.resultHeld : text.doing.waiting}${words.card.comma}${left}`}</span>
      </>
    )
  }
  return null
}
