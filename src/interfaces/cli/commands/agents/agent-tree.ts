import { moneyText } from "../../../../lib/money-text.ts"
import type { AgentActivity } from "../../../../agents/society/overview.ts"
import { counted } from "../../../../lib/counted.ts"
import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { cutTo, padTo, width } from "../../terminal/width.ts"

/** Describes the activity of an agent in a few words. Those it waits for are named by `all`. */
export function stateText(
  { state, runEnded, questions, waitsFor, unread }: AgentActivity,
  all: readonly AgentActivity[],
): string {
  const tools = [...new Set(questions.map(({ tool }) => tool))].join(", ")
  const said = unread === 0 ? "" : `, ${unread} unread`
  const texts = {
    working: "works",
    unfinished: "stands still: 'qm serve' runs agents",
    unread: "does not work yet: 'qm serve' runs agents",
    no_model: "waits for a model",
    waiting: `waits for a person: ${tools}`,
    delegated: `waits for ${waitsFor.map((id) => nameOf(all.find(({ agentId }) => agentId === id) ?? { agentId: id, role: id })).join(", ")}`,
    frozen: "is frozen",
    idle: runEnded ? "idle, its run has ended" : "idle",
  }
  return printable(`${texts[state]}${said}`)
}

/** The agents that have something to do or have worked, as a tree: who, what, and what it has used. */
export function agentRows(
  activity: readonly AgentActivity[],
  { columns, paint }: { columns: number; paint: TerminalStyle },
): string[] {
  const lines = treeOf(activity)
  if (lines.length === 0)
    return [cutTo("No agent has worked yet. Give one something to do: qm agents message root 'Hello'", columns)]
  const names = lines.map(({ indent, agent }) => `${indent}${printable(nameOf(agent))}`)
  const used = lines.map(({ agent }) => usedText(agent))
  const nameWidth = Math.min(Math.max(...names.map(width)), Math.floor(columns * 0.4))
  const usedWidth = Math.min(Math.max(...used.map(width)), Math.floor(columns * 0.35))
  const stateWidth = Math.max(8, columns - nameWidth - usedWidth - 4)
  const colours = {
    working: paint.cyan,
    unfinished: paint.yellow,
    unread: paint.yellow,
    no_model: paint.yellow,
    waiting: paint.yellow,
    delegated: paint.dim,
    frozen: paint.red,
    idle: paint.dim,
  }
  return lines.map(({ agent }, place) => {
    const name = padTo(cutTo(names[place]!, nameWidth), nameWidth)
    const state = padTo(cutTo(stateText(agent, activity), stateWidth), stateWidth)
    return `${paint.bold(name)}  ${colours[agent.state](state)}  ${paint.dim(cutTo(used[place]!, usedWidth))}`.trimEnd()
  })
}

interface TreeLine {
  indent: string
  agent: AgentActivity
}

function treeOf(activity: readonly AgentActivity[]): TreeLine[] {
  const ids = new Set(activity.map(({ agentId }) => agentId))
  const childrenOf = (id: string | undefined) =>
    activity.filter(({ parentId }) =>
      id === undefined ? parentId === undefined || !ids.has(parentId) : parentId === id,
    )
  const below = (agents: readonly AgentActivity[], indent: string): TreeLine[] => {
    const shown = agents.map((agent) => ({ agent, inner: childrenOf(agent.agentId) })).filter(isShown)
    return shown.flatMap(({ agent, inner }, place) => {
      const isLast = place === shown.length - 1
      const branch = indent === "top" ? "" : `${indent}${isLast ? "└─ " : "├─ "}`
      const deeper = indent === "top" ? "" : `${indent}${isLast ? "   " : "│  "}`
      return [{ indent: branch, agent }, ...below(inner, deeper)]
    })
  }
  const isShown = ({ agent, inner }: { agent: AgentActivity; inner: readonly AgentActivity[] }): boolean =>
    agent.state !== "idle" ||
    agent.spent.rounds > 0 ||
    inner.some((child) => isShown({ agent: child, inner: childrenOf(child.agentId) }))
  return below(childrenOf(undefined), "top")
}

function nameOf({ agentId, role }: Pick<AgentActivity, "agentId" | "role">): string {
  return agentId === role ? shortId(agentId) : `${shortId(agentId)} (${role})`
}

/** Ids that were generated begin with the time, so their ends tell them apart. */
export function shortId(id: string): string {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? `…${id.slice(-6)}` : id
}

function usedText({ spent }: AgentActivity): string {
  const { rounds, calls, inputTokens, outputTokens, cost } = spent
  if (rounds === 0) return ""
  const money = cost === 0 ? [] : [moneyText(cost)]
  return [counted(calls, "call"), `${tokenText(inputTokens + outputTokens)} tokens`, ...money].join(" · ")
}

function tokenText(tokens: number): string {
  return tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1000)}k`
}
